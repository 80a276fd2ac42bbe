// Copyright 2026 The av_fusion authors. SPDX-License-Identifier: Apache-2.0
#include "av_fusion/nn/load_blocks.h"

#include <string>
#include <utility>

#include "av_fusion/nn/load_layers.h"

namespace av_fusion {
namespace {

/// Throws `Error(kShapeMismatch)` with the file and the name of the tensor.
void expect_tensor(const StateDict& weights, const char* name, const Shape& expected) {
  expect_shape(weights.shape(name), expected, weights.place(name));
}

bool has_layer_norm(const StateDict& weights) {
  return weights.contains("weight") || weights.contains("bias");
}

CrossAttentionFusion::Layer load_fusion_layer(const StateDict& weights, int num_heads) {
  CrossAttentionFusion::Layer layer{
      .attention = load_multi_head_attention(weights.sub("attention."), num_heads),
      .feed_forward = load_feed_forward(weights.sub("feed_forward."))};
  const std::int64_t dim = layer.attention.query_weight.dim(0);
  const StateDict query_norm = weights.sub("query_norm.");
  if (has_layer_norm(query_norm)) {
    layer.query_norm = load_layer_norm(query_norm);
    expect_tensor(query_norm, "weight", {dim});
  }
  const StateDict key_norm = weights.sub("key_norm.");
  if (has_layer_norm(key_norm)) {
    layer.key_norm = load_layer_norm(key_norm);
    expect_tensor(key_norm, "weight", {layer.attention.key_weight.dim(1)});
  }
  expect_tensor(weights, "feed_forward.norm.weight", {dim});
  return layer;
}

}  // namespace

FeedForward::Params load_feed_forward(const StateDict& weights) {
  FeedForward::Params params{.norm = load_layer_norm(weights.sub("norm.")),
                             .up = load_linear(weights.sub("up.")),
                             .down = load_linear(weights.sub("down."))};
  const std::int64_t dim = params.norm.scale.dim(0);
  expect_tensor(weights, "up.weight", {kAny, dim});
  expect_tensor(weights, "down.weight", {dim, params.up.weight.dim(0)});
  return params;
}

ConvBlock::Params load_conv_block(const StateDict& weights, int dilation) {
  ConvBlock::Params params{.norm = load_layer_norm(weights.sub("norm.")),
                           .conv = load_conv1d(weights.sub("conv.")),
                           .linear = load_linear(weights.sub("linear."))};
  params.conv.dilation = dilation;
  const std::int64_t dim = params.norm.scale.dim(0);
  expect_tensor(weights, "conv.weight", {kAny, dim, kAny});
  expect_tensor(weights, "linear.weight", {dim, params.conv.weight.dim(0)});
  return params;
}

ConvTransformerEncoder::Params load_conv_transformer_encoder(
    const StateDict& weights, const ConvTransformerEncoderOptions& options) {
  const StateDict attention = weights.sub("attention.");
  ConvTransformerEncoder::Params params{
      .attention_norm = load_layer_norm(attention.sub("norm.")),
      .attention = load_multi_head_attention(attention.sub("attention."), options.num_heads),
      .attention_width = options.attention_width,
      .feed_forward = load_feed_forward(attention.sub("feed_forward."))};
  const std::int64_t dim = params.attention.query_weight.dim(0);
  expect_tensor(attention, "norm.weight", {dim});
  expect_tensor(attention, "feed_forward.norm.weight", {dim});
  for (const int dilation : options.dilations) {
    const StateDict block =
        weights.sub("blocks." + std::to_string(params.conv_blocks.size()) + ".");
    params.conv_blocks.push_back(load_conv_block(block, dilation));
    expect_tensor(block, "norm.weight", {dim});
  }
  return params;
}

CrossAttentionFusion::Params load_cross_attention_fusion(const StateDict& weights, int num_heads) {
  const auto layer = [&](std::size_t index) {
    return weights.sub("layers." + std::to_string(index) + ".");
  };
  CrossAttentionFusion::Params params;
  do {
    params.layers.push_back(load_fusion_layer(layer(params.layers.size()), num_heads));
  } while (layer(params.layers.size()).contains("feed_forward.norm.weight"));
  return params;
}

}  // namespace av_fusion
