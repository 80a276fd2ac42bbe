// Copyright 2026 The av_fusion authors. SPDX-License-Identifier: Apache-2.0
#include "av_fusion/nn/conv2d.h"

#include <utility>

#include "av_fusion/nn/dnnl/packed_conv.h"

namespace av_fusion {

class Conv2d::Impl {
 public:
  explicit Impl(Params params)
      : conv({.layer = "conv2d",
              .weight = std::move(params.weight),
              .bias = std::move(params.bias),
              .stride = params.stride,
              .padding = params.padding,
              .activation = params.activation}) {}

  internal::PackedConv conv;
};

Conv2d::Conv2d(Params params) {
  expect_shape(params.weight.shape(), {kAny, kAny, kAny, kAny}, "conv2d weight");
  impl_ = std::make_unique<Impl>(std::move(params));
}
Conv2d::~Conv2d() = default;
Conv2d::Conv2d(Conv2d&&) noexcept = default;
Conv2d& Conv2d::operator=(Conv2d&&) noexcept = default;

std::int64_t Conv2d::in_channels() const noexcept { return impl_->conv.in_channels(); }
std::int64_t Conv2d::out_channels() const noexcept { return impl_->conv.out_channels(); }

Shape Conv2d::out_size(std::int64_t height, std::int64_t width) const {
  return {impl_->conv.out_extent(0, height), impl_->conv.out_extent(1, width)};
}

void Conv2d::forward(ExecContext& context, TensorView<const float> in,
                     TensorView<float> out) const {
  impl_->conv.forward(context, in, out);
}

}  // namespace av_fusion
