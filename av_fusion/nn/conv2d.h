// Copyright 2026 The av_fusion authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "av_fusion/core/tensor.h"
#include "av_fusion/nn/activation.h"
#include "av_fusion/nn/exec_context.h"

namespace av_fusion {

/// Convolution over pictures with zero padding, as torch.nn.Conv2d on channels-last pictures.
/// Immutable and safe to share between threads.
class Conv2d {
 public:
  struct Params {
    Tensor<float> weight;  ///< [out_channels, in_channels, kernel_h, kernel_w], PyTorch's order
    Tensor<float> bias{};  ///< [out_channels], or empty
    int stride = 1;        ///< both axes
    int padding = 0;       ///< zeros on every side
    Activation activation = Activation::kNone;
  };

  explicit Conv2d(Params params);
  ~Conv2d();
  Conv2d(Conv2d&&) noexcept;
  Conv2d& operator=(Conv2d&&) noexcept;

  std::int64_t in_channels() const noexcept;
  std::int64_t out_channels() const noexcept;
  /// [out_h, out_w] for pictures of `height` x `width`.
  Shape out_size(std::int64_t height, std::int64_t width) const;

  /// `in` [N, H, W, in_channels], `out` [N, out_h, out_w, out_channels]; dense, distinct.
  /// An empty `out` does nothing; an empty `in` with padding enough for an `out` is refused.
  void forward(ExecContext& context, TensorView<const float> in, TensorView<float> out) const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace av_fusion
