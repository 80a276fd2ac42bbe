// Copyright 2026 The av_fusion authors. SPDX-License-Identifier: Apache-2.0
#include "av_fusion/model/private/blocks.h"

namespace av_fusion {

Linear make_linear(TensorSource& source, const std::string& prefix, std::int64_t out_features,
                   std::int64_t in_features, Activation activation) {
  return Linear({.weight = source.take(prefix + "weight", {out_features, in_features}),
                 .bias = source.take(prefix + "bias", {out_features}),
                 .activation = activation});
}

LayerNorm make_layer_norm(TensorSource& source, const std::string& prefix, std::int64_t dim) {
  return LayerNorm({.scale = source.take(prefix + "weight", {dim}),
                    .shift = source.take(prefix + "bias", {dim})});
}

Conv1d make_conv1d(TensorSource& source, const std::string& prefix, std::int64_t out_channels,
                   std::int64_t in_channels, std::int64_t kernel, std::int64_t dilation,
                   Activation activation) {
  return Conv1d({.weight = source.take(prefix + "weight", {out_channels, in_channels, kernel}),
                 .bias = source.take(prefix + "bias", {out_channels}),
                 .dilation = static_cast<int>(dilation),
                 .padding = static_cast<int>(dilation * (kernel / 2)),
                 .activation = activation});
}

MultiHeadAttention make_attention(TensorSource& source, const std::string& prefix, std::int64_t dim,
                                  std::int64_t num_heads) {
  const auto weight = [&](const char* layer) {
    return source.take(prefix + layer + ".weight", {dim, dim});
  };
  const auto bias = [&](const char* layer) { return source.take(prefix + layer + ".bias", {dim}); };
  return MultiHeadAttention(MultiHeadAttention::Params{.num_heads = static_cast<int>(num_heads),
                                                       .query_weight = weight("query"),
                                                       .key_weight = weight("key"),
                                                       .value_weight = weight("value"),
                                                       .query_bias = bias("query"),
                                                       .key_bias = bias("key"),
                                                       .value_bias = bias("value"),
                                                       .out_weight = weight("out"),
                                                       .out_bias = bias("out")});
}

void add_to(TensorView<float> sum, TensorView<const float> term) {
  const std::int64_t count = sum.num_elements();
  float* to = sum.data();
  const float* from = term.data();
  for (std::int64_t i = 0; i < count; ++i) to[i] += from[i];
}

TemporalBlock::TemporalBlock(TensorSource& source, const std::string& prefix, std::int64_t dim,
                             std::int64_t kernel, std::int64_t dilation)
    : norm_(make_layer_norm(source, prefix + "norm.", dim)),
      conv_(make_conv1d(source, prefix + "conv.", dim, dim, kernel, dilation, Activation::kGelu)),
      linear_(make_linear(source, prefix + "linear.", dim, dim)) {}

void TemporalBlock::forward(ExecContext& context, TensorView<float> x,
                            BlockScratch& scratch) const {
  const Shape sequence{1, x.dim(0), x.dim(1)};
  norm_.forward(context, x, scratch.first.view());
  conv_.forward(context, reshaped<const float>(scratch.first.view(), sequence),
                reshaped(scratch.second.view(), sequence));
  linear_.forward(context, scratch.second.view(), x, /*accumulate=*/true);
}

FeedForward::FeedForward(TensorSource& source, const std::string& prefix, std::int64_t dim,
                         std::int64_t hidden)
    : norm_(make_layer_norm(source, prefix + "norm.", dim)),
      up_(make_linear(source, prefix + "up.", hidden, dim, Activation::kGelu)),
      down_(make_linear(source, prefix + "down.", dim, hidden)) {}

void FeedForward::forward(ExecContext& context, TensorView<float> x, BlockScratch& scratch) const {
  norm_.forward(context, x, scratch.first.view());
  up_.forward(context, scratch.first.view(), scratch.hidden.view());
  down_.forward(context, scratch.hidden.view(), x, /*accumulate=*/true);
}

AttentionBlock::AttentionBlock(TensorSource& source, const std::string& prefix, std::int64_t dim,
                               std::int64_t num_heads, std::int64_t width, std::int64_t hidden)
    : norm_(make_layer_norm(source, prefix + "norm.", dim)),
      attention_(make_attention(source, prefix + "attention.", dim, num_heads)),
      width_(width),
      feed_forward_(source, prefix + "feed_forward.", dim, hidden) {}

void AttentionBlock::forward(ExecContext& context, TensorView<float> x,
                             BlockScratch& scratch) const {
  const Shape sequence{1, x.dim(0), x.dim(1)};
  MultiHeadAttention::Masks masks;
  masks.band = BandMask{.stride = 1, .offset = 0, .width = width_};
  norm_.forward(context, x, scratch.first.view());
  attention_.forward(context, reshaped<const float>(scratch.first.view(), sequence),
                     reshaped(scratch.second.view(), sequence), masks, {});
  add_to(x, scratch.second.view());
  feed_forward_.forward(context, x, scratch);
}

}  // namespace av_fusion
