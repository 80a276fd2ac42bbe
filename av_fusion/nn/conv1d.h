// Copyright 2026 The av_fusion authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "av_fusion/core/tensor.h"
#include "av_fusion/nn/activation.h"
#include "av_fusion/nn/exec_context.h"

namespace av_fusion {

/// Convolution over time with zero padding, as torch.nn.Conv1d on channels-last sequences.
/// Immutable and safe to share between threads.
class Conv1d {
 public:
  struct Params {
    Tensor<float> weight;  ///< [out_channels, in_channels, kernel], PyTorch's order
    Tensor<float> bias{};  ///< [out_channels], or empty
    int stride = 1;
    int dilation = 1;  ///< PyTorch's meaning: 1 is a dense kernel
    int padding = 0;   ///< zeros on either side
    Activation activation = Activation::kNone;
  };

  explicit Conv1d(Params params);
  ~Conv1d();
  Conv1d(Conv1d&&) noexcept;
  Conv1d& operator=(Conv1d&&) noexcept;

  std::int64_t in_channels() const noexcept;
  std::int64_t out_channels() const noexcept;
  /// Length of the result for an input of `length` steps; 0 if the kernel does not fit.
  std::int64_t out_length(std::int64_t length) const noexcept;

  /// `in` [B, T, in_channels], `out` [B, out_length(T), out_channels]; dense, distinct.
  /// An empty `out` does nothing; an empty `in` with padding enough for an `out` is refused.
  void forward(ExecContext& context, TensorView<const float> in, TensorView<float> out) const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace av_fusion
