// Copyright 2026 The av_fusion authors. SPDX-License-Identifier: Apache-2.0
#include <benchmark/benchmark.h>

#include <cmath>

#include "av_fusion/nn/multi_head_attention.h"

// Attention in the sizes of the aligner: width 128, four heads, video at 25 Hz, audio at 100 Hz.
namespace av_fusion {
namespace {

constexpr std::int64_t kDim = 128;
constexpr int kHeads = 4;

Tensor<float> filled(const Shape& shape, float scale) {
  Tensor<float> result(shape);
  float phase = 0.0f;
  for (float& x : result.elements()) x = scale * std::sin(phase += 1.7f);
  return result;
}

MultiHeadAttention make_layer() {
  return MultiHeadAttention(MultiHeadAttention::FusedParams{
      .num_heads = kHeads,
      .qkv_weight = filled({3 * kDim, kDim}, 0.1f),
      .out_weight = filled({kDim, kDim}, 0.1f),
  });
}

void cross_attention(benchmark::State& state, const MultiHeadAttention::Masks& masks) {
  const std::int64_t queries = state.range(0);
  const std::int64_t keys = 4 * queries + 200;
  const MultiHeadAttention layer = make_layer();
  const Tensor<float> video = filled({1, queries, kDim}, 1.0f);
  const Tensor<float> audio = filled({1, keys, kDim}, 1.0f);
  Tensor<float> out(Shape{1, queries, kDim});
  ExecContext context;
  for (auto unused : state) {
    layer.forward(context, video.view(), audio.view(), audio.view(), out.view(), masks, {});
  }
}

void self_attention(benchmark::State& state, const MultiHeadAttention::Masks& masks) {
  const MultiHeadAttention layer = make_layer();
  const Tensor<float> in = filled({1, state.range(0), kDim}, 1.0f);
  Tensor<float> out(in.shape());
  ExecContext context;
  for (auto unused : state) layer.forward(context, in.view(), out.view(), masks, {});
}

void cross_all(benchmark::State& state) { cross_attention(state, {}); }
void cross_band(benchmark::State& state) {
  cross_attention(state, {.key_lengths = {}, .band = BandMask{4, 100, 100}});
}
void self_all(benchmark::State& state) { self_attention(state, {}); }
void self_band(benchmark::State& state) {
  self_attention(state, {.key_lengths = {}, .band = BandMask{1, 0, 12}});
}

BENCHMARK(cross_all)->Arg(25)->Arg(75)->Arg(250);
BENCHMARK(cross_band)->Arg(25)->Arg(75)->Arg(250);
BENCHMARK(self_all)->Arg(25)->Arg(100)->Arg(250)->Arg(1000);
BENCHMARK(self_band)->Arg(25)->Arg(100)->Arg(250)->Arg(1000);

}  // namespace
}  // namespace av_fusion
