// Copyright 2026 The av_fusion authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <span>

#include "av_fusion/nn/conv1d.h"
#include "av_fusion/nn/layer_norm.h"
#include "av_fusion/nn/linear.h"

namespace av_fusion {

/// A residual convolution over time that keeps the length of a sequence:
///
///     x += Linear(gelu(Conv1d(LN(x))))
///
/// The ends are padded with zeros. Immutable and safe to share between threads.
class ConvBlock {
 public:
  struct Params {
    LayerNorm::Params norm;  ///< over D
    /// Weight [channels, D, kernel] with an odd kernel, stride 1, any dilation. The padding,
    /// dilation * (kernel / 2), and the GELU are set by the block.
    Conv1d::Params conv;
    Linear::Params linear;  ///< weight [D, channels]
  };

  /// Throws `Error(kShapeMismatch)` where widths disagree, `Error(kInvalidArgument)` if the kernel
  /// is even or a part asks for a stride, padding or activation that the block does not have.
  explicit ConvBlock(Params params);
  ~ConvBlock();
  ConvBlock(ConvBlock&&) noexcept;
  ConvBlock& operator=(ConvBlock&&) noexcept;

  std::int64_t dim() const noexcept;  ///< D

  /// `x` [B, T, D] dense, changed in place; B = 0 or T = 0 does nothing.
  ///
  /// `lengths` [B] (0 to T) are the valid steps of each sequence in a ragged batch; empty means
  /// all. Steps beyond count as padding, so a valid step comes out as if its sequence were alone;
  /// what comes out beyond a length has no meaning.
  void forward(ExecContext& context, TensorView<float> x,
               std::span<const std::int64_t> lengths = {}) const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace av_fusion
