// Copyright 2026 The av_fusion authors. SPDX-License-Identifier: Apache-2.0
#include "av_fusion/nn/conv1d.h"

#include <utility>

#include "av_fusion/nn/dnnl/packed_conv.h"

namespace av_fusion {

class Conv1d::Impl {
 public:
  explicit Impl(Params params)
      : conv({.layer = "conv1d",
              .weight = std::move(params.weight),
              .bias = std::move(params.bias),
              .stride = params.stride,
              .dilation = params.dilation,
              .padding = params.padding,
              .activation = params.activation}) {}

  internal::PackedConv conv;
};

Conv1d::Conv1d(Params params) {
  expect_shape(params.weight.shape(), {kAny, kAny, kAny}, "conv1d weight");
  impl_ = std::make_unique<Impl>(std::move(params));
}
Conv1d::~Conv1d() = default;
Conv1d::Conv1d(Conv1d&&) noexcept = default;
Conv1d& Conv1d::operator=(Conv1d&&) noexcept = default;

std::int64_t Conv1d::in_channels() const noexcept { return impl_->conv.in_channels(); }
std::int64_t Conv1d::out_channels() const noexcept { return impl_->conv.out_channels(); }

std::int64_t Conv1d::out_length(std::int64_t length) const noexcept {
  return impl_->conv.out_extent(0, length);
}

void Conv1d::forward(ExecContext& context, TensorView<const float> in,
                     TensorView<float> out) const {
  impl_->conv.forward(context, in, out);
}

}  // namespace av_fusion
