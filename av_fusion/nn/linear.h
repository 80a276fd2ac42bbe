// Copyright 2026 The av_fusion authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "av_fusion/core/tensor.h"
#include "av_fusion/nn/activation.h"
#include "av_fusion/nn/exec_context.h"

namespace av_fusion {

/// y = act(x W^T + b) [+ y], as torch.nn.Linear.
///
/// The weights are packed once, in the constructor. Immutable and safe to share between threads.
class Linear {
 public:
  struct Params {
    Tensor<float> weight;  ///< [out_features, in_features]
    Tensor<float> bias{};  ///< [out_features], or empty
    Activation activation = Activation::kNone;
  };

  /// Throws `Error(kShapeMismatch)` if bias and weight disagree, `Error(kInvalidArgument)` if the
  /// weight is empty.
  explicit Linear(Params params);
  ~Linear();
  Linear(Linear&&) noexcept;
  Linear& operator=(Linear&&) noexcept;

  std::int64_t in_features() const noexcept;
  std::int64_t out_features() const noexcept;

  /// `in` [N, in_features], `out` [N, out_features]; both dense and distinct. N = 0 does nothing.
  /// With `accumulate` the result is added to what `out` holds (a residual connection); that needs
  /// `Activation::kNone`.
  void forward(ExecContext& context, TensorView<const float> in, TensorView<float> out,
               bool accumulate = false) const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace av_fusion
