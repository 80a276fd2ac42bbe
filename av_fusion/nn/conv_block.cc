// Copyright 2026 The av_fusion authors. SPDX-License-Identifier: Apache-2.0
#include "av_fusion/nn/conv_block.h"

#include <algorithm>
#include <limits>
#include <string>
#include <utility>

#include "av_fusion/nn/block_internal.h"
#include "av_fusion/nn/dnnl/exec_context_impl.h"
#include "av_fusion/nn/validate_internal.h"

namespace av_fusion {
namespace {

[[noreturn]] void refuse(const std::string& message) {
  throw Error(ErrorCode::kInvalidArgument, "conv_block", message);
}

// Zeros on either side that keep the length.
int length_keeping_padding(const Conv1d::Params& conv) {
  const std::int64_t kernel = conv.weight.dim(2);
  if (kernel % 2 == 0) {
    refuse("a kernel of " + std::to_string(kernel) + " cannot keep the length; it must be odd");
  }
  if (conv.stride != 1) refuse("the stride must be 1, got " + std::to_string(conv.stride));
  const std::int64_t half = kernel / 2;
  if (conv.dilation < 1 ||
      half > std::numeric_limits<int>::max() / static_cast<std::int64_t>(conv.dilation)) {
    refuse("a dilation of " + std::to_string(conv.dilation) + " is out of range");
  }
  return static_cast<int>(conv.dilation * half);
}

void set_padding(Conv1d::Params& conv) {
  const int padding = length_keeping_padding(conv);
  if (conv.padding != 0 && conv.padding != padding) {
    refuse("a padding of " + std::to_string(conv.padding) + " does not keep the length; " +
           std::to_string(padding) + " does");
  }
  conv.padding = padding;
}

ConvBlock::Params checked(ConvBlock::Params params) {
  const std::int64_t dim = internal::checked_dim(params.norm, "conv_block norm");
  expect_shape(params.conv.weight.shape(), {kAny, dim, kAny}, "conv_block conv weight");
  expect_shape(params.linear.weight.shape(), {dim, params.conv.weight.dim(0)},
               "conv_block linear weight");
  set_padding(params.conv);
  internal::set_activation(params.conv.activation, Activation::kGelu, "conv_block conv");
  internal::set_activation(params.linear.activation, Activation::kNone, "conv_block linear");
  return params;
}

// Zero from each length on: what the convolution finds there is its padding.
void clear_beyond(std::span<const std::int64_t> lengths, const TensorView<float>& sequences) {
  const std::int64_t size = sequences.strides()[0];
  for (std::size_t b = 0; b < lengths.size(); ++b) {
    float* const sequence = sequences.data() + static_cast<std::int64_t>(b) * size;
    std::fill(sequence + lengths[b] * sequences.dim(2), sequence + size, 0.0f);
  }
}

}  // namespace

class ConvBlock::Impl {
 public:
  explicit Impl(Params params)
      : norm(std::move(params.norm)),
        conv(std::move(params.conv)),
        linear(std::move(params.linear)) {}

  LayerNorm norm;
  Conv1d conv;
  Linear linear;
};

ConvBlock::ConvBlock(Params params) : impl_(std::make_unique<Impl>(checked(std::move(params)))) {}
ConvBlock::~ConvBlock() = default;
ConvBlock::ConvBlock(ConvBlock&&) noexcept = default;
ConvBlock& ConvBlock::operator=(ConvBlock&&) noexcept = default;

std::int64_t ConvBlock::dim() const noexcept { return impl_->norm.dim(); }

void ConvBlock::forward(ExecContext& context, TensorView<float> x,
                        std::span<const std::int64_t> lengths) const {
  using Frame = ExecContext::Impl::Frame;
  internal::expect_operand(x, {kAny, kAny, dim()}, "conv_block", "input");
  internal::check_lengths(lengths, x.dim(0), x.dim(1), "conv_block");
  if (x.empty()) return;
  const Shape channels_shape{x.dim(0), x.dim(1), impl_->conv.out_channels()};
  Frame memory(context.impl(),
               Frame::rounded(x.num_elements()) + Frame::rounded(channels_shape.num_elements()));
  const TensorView<float> normed(memory.take(x.num_elements()), x.shape());
  const TensorView<float> channels(memory.take(channels_shape.num_elements()), channels_shape);
  impl_->norm.forward(context, internal::rows_of(x), internal::rows_of(normed));
  clear_beyond(lengths, normed);
  impl_->conv.forward(context, normed, channels);
  impl_->linear.forward(context, internal::rows_of(channels), internal::rows_of(x),
                        /*accumulate=*/true);
}

}  // namespace av_fusion
