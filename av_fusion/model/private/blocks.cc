// Copyright 2026 The av_fusion authors. SPDX-License-Identifier: Apache-2.0
#include "av_fusion/model/private/blocks.h"

#include <string>
#include <string_view>
#include <utility>

#include "av_fusion/nn/load_blocks.h"
#include "av_fusion/nn/load_layers.h"

namespace av_fusion {
namespace {

void expect_tensor(const StateDict& weights, std::string_view name, const Shape& shape) {
  expect_shape(weights.shape(name), shape, weights.place(name));
}

/// A weight of shape [out, ...] and its bias [out].
void expect_layer(const StateDict& weights, const Shape& weight) {
  expect_tensor(weights, "weight", weight);
  expect_tensor(weights, "bias", {weight[0]});
}

void expect_conv_block(const StateDict& weights, std::int64_t dim, std::int64_t kernel) {
  expect_layer(weights.sub("norm."), {dim});
  expect_layer(weights.sub("conv."), {dim, dim, kernel});
  expect_layer(weights.sub("linear."), {dim, dim});
}

void expect_attention(const StateDict& weights, std::int64_t dim) {
  for (const char* layer : {"query.", "key.", "value.", "out."}) {
    expect_layer(weights.sub(layer), {dim, dim});
  }
}

void expect_feed_forward(const StateDict& weights, std::int64_t dim, std::int64_t hidden) {
  expect_layer(weights.sub("norm."), {dim});
  expect_layer(weights.sub("up."), {hidden, dim});
  expect_layer(weights.sub("down."), {dim, hidden});
}

}  // namespace

Linear make_linear(const StateDict& weights, std::int64_t out_features, std::int64_t in_features,
                   Activation activation) {
  expect_layer(weights, {out_features, in_features});
  return Linear(load_linear(weights, activation));
}

LayerNorm make_layer_norm(const StateDict& weights, std::int64_t dim) {
  expect_layer(weights, {dim});
  return LayerNorm(load_layer_norm(weights));
}

Conv1d make_conv1d(const StateDict& weights, std::int64_t out_channels, std::int64_t in_channels,
                   std::int64_t kernel, Activation activation) {
  expect_layer(weights, {out_channels, in_channels, kernel});
  Conv1d::Params params = load_conv1d(weights, activation);
  params.padding = static_cast<int>(kernel / 2);
  return Conv1d(std::move(params));
}

MultiHeadAttention::Params load_attention(const StateDict& weights, std::int64_t dim,
                                          std::int64_t num_heads) {
  expect_attention(weights, dim);
  return load_multi_head_attention(weights, static_cast<int>(num_heads));
}

FeedForward::Params load_feed_forward(const StateDict& weights, std::int64_t dim,
                                      std::int64_t hidden) {
  expect_feed_forward(weights, dim, hidden);
  return load_feed_forward(weights);
}

ConvTransformerEncoder make_encoder(const StateDict& weights, const ModelConfig& config,
                                    const std::vector<std::int64_t>& dilations,
                                    std::int64_t attention_width) {
  ConvTransformerEncoderOptions options{.num_heads = static_cast<int>(config.num_heads),
                                        .attention_width = attention_width};
  for (const std::int64_t dilation : dilations) {
    const std::string block = "blocks." + std::to_string(options.dilations.size()) + ".";
    expect_conv_block(weights.sub(block), config.token_dim, config.temporal_kernel);
    options.dilations.push_back(static_cast<int>(dilation));
  }
  const StateDict attention = weights.sub("attention.");
  expect_layer(attention.sub("norm."), {config.token_dim});
  expect_attention(attention.sub("attention."), config.token_dim);
  expect_feed_forward(attention.sub("feed_forward."), config.token_dim, config.feed_forward);
  return ConvTransformerEncoder(load_conv_transformer_encoder(weights, options));
}

}  // namespace av_fusion
