// Copyright 2026 The av_fusion authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "av_fusion/nn/layer_norm.h"
#include "av_fusion/nn/linear.h"

namespace av_fusion {

/// The feed-forward part of a pre-norm Transformer layer, with its residual connection:
///
///     x += W2 gelu(W1 LN(x) + b1) + b2
///
/// (Vaswani et al. 2017, "Attention Is All You Need", section 3.3, with GELU in place of ReLU and
/// the normalisation first). Immutable and safe to share between threads.
class FeedForward {
 public:
  struct Params {
    LayerNorm::Params norm;  ///< over D
    Linear::Params up;       ///< W1 [hidden, D], b1; the GELU is set by the block
    Linear::Params down;     ///< W2 [D, hidden], b2
  };

  /// Throws `Error(kShapeMismatch)` where widths disagree, `Error(kInvalidArgument)` if a part asks
  /// for an activation that the formula does not have.
  explicit FeedForward(Params params);
  ~FeedForward();
  FeedForward(FeedForward&&) noexcept;
  FeedForward& operator=(FeedForward&&) noexcept;

  std::int64_t dim() const noexcept;  ///< D

  /// `x` [N, D] dense, changed in place. N = 0 does nothing.
  void forward(ExecContext& context, TensorView<float> x) const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace av_fusion
