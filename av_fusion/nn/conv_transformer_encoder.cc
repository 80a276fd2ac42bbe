// Copyright 2026 The av_fusion authors. SPDX-License-Identifier: Apache-2.0
#include "av_fusion/nn/conv_transformer_encoder.h"

#include <string>
#include <string_view>
#include <utility>

#include "av_fusion/nn/block_internal.h"
#include "av_fusion/nn/dnnl/exec_context_impl.h"
#include "av_fusion/nn/validate_internal.h"

namespace av_fusion {
namespace {

constexpr std::string_view kLayer = "conv_transformer_encoder";

ConvTransformerEncoder::Params checked(ConvTransformerEncoder::Params params) {
  const std::string name(kLayer);
  const std::int64_t dim = internal::checked_dim(params.attention_norm, name + " attention_norm");
  for (std::size_t i = 0; i < params.conv_blocks.size(); ++i) {
    expect_shape(params.conv_blocks[i].norm.scale.shape(), {dim},
                 name + " conv_blocks[" + std::to_string(i) + "] norm scale");
  }
  const Shape square{dim, dim};
  expect_shape(params.attention.query_weight.shape(), square, name + " attention query_weight");
  expect_shape(params.attention.key_weight.shape(), square, name + " attention key_weight");
  expect_shape(params.attention.value_weight.shape(), square, name + " attention value_weight");
  expect_shape(params.feed_forward.norm.scale.shape(), {dim}, name + " feed_forward norm scale");
  if (params.attention_width.value_or(0) < 0) {
    throw Error(ErrorCode::kInvalidArgument, kLayer,
                "attention_width is negative: " + std::to_string(*params.attention_width));
  }
  return params;
}

std::vector<ConvBlock> make_blocks(std::vector<ConvBlock::Params> params) {
  std::vector<ConvBlock> blocks;
  for (ConvBlock::Params& block : params) blocks.emplace_back(std::move(block));
  return blocks;
}

}  // namespace

class ConvTransformerEncoder::Impl {
 public:
  explicit Impl(Params params)
      : blocks_(make_blocks(std::move(params.conv_blocks))),
        norm_(std::move(params.attention_norm)),
        attention_(std::move(params.attention)),
        feed_forward_(std::move(params.feed_forward)) {
    if (params.attention_width) band_ = BandMask{.width = *params.attention_width};
  }

  std::int64_t dim() const noexcept { return norm_.dim(); }

  void forward(ExecContext& context, const TensorView<float>& x,
               std::span<const std::int64_t> lengths) const {
    for (const ConvBlock& block : blocks_) block.forward(context, x, lengths);
    attend(context, x, lengths);
    feed_forward_.forward(context, internal::rows_of(x));
  }

 private:
  void attend(ExecContext& context, const TensorView<float>& x,
              std::span<const std::int64_t> lengths) const {
    ExecContext::Impl::Frame memory(context.impl(), x.num_elements());
    const TensorView<float> normed(memory.take(x.num_elements()), x.shape());
    MultiHeadAttention::Masks masks;
    masks.key_lengths = lengths;
    masks.band = band_;
    norm_.forward(context, internal::rows_of(x), internal::rows_of(normed));
    attention_.forward(context, normed, x, masks, {}, /*accumulate=*/true);
  }

  std::vector<ConvBlock> blocks_;
  LayerNorm norm_;
  MultiHeadAttention attention_;
  std::optional<BandMask> band_;
  FeedForward feed_forward_;
};

ConvTransformerEncoder::ConvTransformerEncoder(Params params)
    : impl_(std::make_unique<Impl>(checked(std::move(params)))) {}
ConvTransformerEncoder::~ConvTransformerEncoder() = default;
ConvTransformerEncoder::ConvTransformerEncoder(ConvTransformerEncoder&&) noexcept = default;
ConvTransformerEncoder& ConvTransformerEncoder::operator=(ConvTransformerEncoder&&) noexcept =
    default;

std::int64_t ConvTransformerEncoder::dim() const noexcept { return impl_->dim(); }

void ConvTransformerEncoder::forward(ExecContext& context, TensorView<float> x,
                                     std::span<const std::int64_t> lengths) const {
  internal::expect_operand(x, {kAny, kAny, dim()}, kLayer, "input");
  internal::check_lengths(lengths, x.dim(0), x.dim(1), kLayer);
  if (x.empty()) {
    throw Error(ErrorCode::kInvalidArgument, kLayer,
                "the input " + x.shape().to_string() + " is empty");
  }
  impl_->forward(context, x, lengths);
}

}  // namespace av_fusion
