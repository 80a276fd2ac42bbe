// Copyright 2026 The av_fusion authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "av_fusion/core/error.h"
#include "av_fusion/core/tensor.h"
#include "av_fusion/nn/conv_transformer_encoder.h"
#include "av_fusion/nn/cross_attention_fusion.h"
#include "tests/nn/reference.h"

// What the blocks have to compute, made of the plain loops of reference.h, and random parameters.
// Results of parts are rounded to f32 in between; sequences run one at a time.
namespace av_fusion::reference {

// ---- Parameters: the same for the same arguments ----

inline LayerNorm::Params norm_params(Index dim, unsigned seed) {
  LayerNorm::Params params{.scale = random({dim}, seed), .shift = random({dim}, seed + 1)};
  return params;
}

inline Linear::Params linear_params(Index out, Index in, unsigned seed) {
  return {.weight = random_weight(out, in, seed), .bias = random({out}, seed + 1)};
}

inline FeedForward::Params feed_forward_params(Index dim, Index hidden, unsigned seed) {
  return {.norm = norm_params(dim, seed),
          .up = linear_params(hidden, dim, seed + 10),
          .down = linear_params(dim, hidden, seed + 20)};
}

struct ConvShape {
  Index channels = 1;
  Index kernel = 1;
  int dilation = 1;
};
inline ConvBlock::Params conv_block_params(Index dim, const ConvShape& conv, unsigned seed) {
  return {.norm = norm_params(dim, seed),
          .conv = {.weight = random_kernel({conv.channels, dim, conv.kernel}, seed + 10),
                   .bias = random({conv.channels}, seed + 11),
                   .dilation = conv.dilation},
          .linear = linear_params(dim, conv.channels, seed + 20)};
}

inline MultiHeadAttention::Params attention_params(Index dim, Index key_width, int num_heads,
                                                   unsigned seed) {
  return {.num_heads = num_heads,
          .query_weight = random_weight(dim, dim, seed),
          .key_weight = random_weight(dim, key_width, seed + 1),
          .value_weight = random_weight(dim, key_width, seed + 2),
          .query_bias = random({dim}, seed + 3),
          .key_bias = random({dim}, seed + 4),
          .value_bias = random({dim}, seed + 5),
          .out_weight = random_weight(dim, dim, seed + 6),
          .out_bias = random({dim}, seed + 7)};
}

// ---- Results ----

inline Tensor<float> to_tensor(const std::vector<double>& values, const Shape& shape) {
  Tensor<float> result(shape);
  EXPECT_EQ(result.elements().size(), values.size());
  std::transform(values.begin(), values.end(), result.data(),
                 [](double value) { return static_cast<float>(value); });
  return result;
}

inline Tensor<float> reshaped(const Tensor<float>& tensor, const Shape& shape) {
  return to_tensor(to_doubles(tensor), shape);
}

inline Tensor<float> sum(const Tensor<float>& x, const std::vector<double>& term) {
  std::vector<double> result = to_doubles(x);
  EXPECT_EQ(result.size(), term.size());
  for (std::size_t i = 0; i < result.size(); ++i) result[i] += term[i];
  return to_tensor(result, x.shape());
}

/// `x` of any shape [..., D]; the same shape comes back.
inline Tensor<float> layer_norm(const LayerNorm::Params& params, const Tensor<float>& x) {
  const Index dim = params.scale.dim(0);
  const Tensor<float> rows = reshaped(x, {x.num_elements() / dim, dim});
  return to_tensor(
      layer_norm(rows, params.scale, params.shift, static_cast<double>(params.epsilon)), x.shape());
}

inline Tensor<float> feed_forward(const FeedForward::Params& params, const Tensor<float>& x) {
  const auto hidden = linear(to_doubles(layer_norm(params.norm, x)), params.up.weight,
                             params.up.bias, Activation::kGelu);
  return sum(x, linear(hidden, params.down.weight, params.down.bias));
}

/// `x` [1, T, D].
inline Tensor<float> conv_block(const ConvBlock::Params& params, const Tensor<float>& x) {
  const Tensor<float>& kernel = params.conv.weight;
  const Tensor<float> normed =
      reshaped(layer_norm(params.norm, x), {1, 1, x.dim(1), kernel.dim(1)});
  const ConvSteps across{.dilation = params.conv.dilation,
                         .padding = params.conv.dilation * (kernel.dim(2) / 2)};
  const auto channels =
      conv2d(normed, reshaped(kernel, {kernel.dim(0), kernel.dim(1), 1, kernel.dim(2)}),
             params.conv.bias, {}, across, Activation::kGelu);
  return sum(x, linear(channels, params.linear.weight, params.linear.bias));
}

/// `x` [1, T, D].
inline Tensor<float> encoder(const ConvTransformerEncoder::Params& params, Tensor<float> x) {
  for (const ConvBlock::Params& block : params.conv_blocks) x = conv_block(block, x);
  const Tensor<float> normed = layer_norm(params.attention_norm, x);
  MultiHeadAttention::Masks masks;
  if (params.attention_width) masks.band = BandMask{.width = *params.attention_width};
  x = sum(x, attention(params.attention, normed, normed, normed, masks).out);
  return feed_forward(params.feed_forward, x);
}

struct Fusion {
  Tensor<float> fused;
  std::vector<Attention> layers;
};

inline Fusion fusion(const CrossAttentionFusion::Params& params, const Tensor<float>& video,
                     const Tensor<float>& audio, const MultiHeadAttention::Masks& masks = {}) {
  Fusion result{video.clone(), {}};
  const auto normed = [](const LayerNorm::Params& norm, const Tensor<float>& x) {
    return norm.scale.empty() ? x.clone() : layer_norm(norm, x);
  };
  for (const CrossAttentionFusion::Layer& layer : params.layers) {
    const Tensor<float> query = normed(layer.query_norm, result.fused);
    const Tensor<float> key = normed(layer.key_norm, audio);
    result.layers.push_back(attention(layer.attention, query, key, key, masks));
    result.fused = feed_forward(layer.feed_forward, sum(result.fused, result.layers.back().out));
  }
  return result;
}

// ---- Ragged batches ----

/// Sequence `index` of `batch` [B, T, D], its first `length` steps: [1, length, D].
inline Tensor<float> sequence_of(const Tensor<float>& batch, Index index, Index length) {
  Tensor<float> result(Shape{1, length, batch.dim(2)});
  std::copy_n(&batch.view()(index, 0, 0), result.num_elements(), result.data());
  return result;
}

/// Compares the valid steps of each sequence with what `expected` makes of this sequence alone.
template <typename Expected>
void expect_each_alone(const Tensor<float>& actual, const Tensor<float>& in,
                       std::span<const std::int64_t> lengths, const Expected& expected) {
  for (Index b = 0; b < in.dim(0); ++b) {
    const Index length = lengths.empty() ? in.dim(1) : lengths[static_cast<std::size_t>(b)];
    if (length == 0) continue;
    SCOPED_TRACE("sequence " + std::to_string(b));
    expect_close(sequence_of(actual, b, length), to_doubles(expected(sequence_of(in, b, length))),
                 1e-5, "valid steps");
  }
}

/// The text of the error that `call` throws, which must have this code.
template <typename Call>
std::string message_of(ErrorCode code, const Call& call) {
  try {
    call();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), code) << error.what();
    return error.what();
  }
  return "no error";
}

}  // namespace av_fusion::reference
