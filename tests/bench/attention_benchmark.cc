// Copyright 2026 The av_fusion authors. SPDX-License-Identifier: Apache-2.0
#include <benchmark/benchmark.h>

#include <cmath>
#include <string>
#include <vector>

#include "av_fusion/nn/linear.h"
#include "av_fusion/nn/multi_head_attention.h"

// The shapes that attention_table.py compares with other libraries, and those of the aligner.
// Names are "attention/<queries>x<keys> <D>/<heads>[ weights][ bf16]/threads:<n>".
namespace av_fusion {
namespace {

struct Layout {
  std::int64_t queries;
  std::int64_t keys;  // 0: self-attention
  std::int64_t dim;
  int heads;

  std::string name() const {
    const std::string lengths = keys == 0 ? "self " + std::to_string(queries)
                                          : std::to_string(queries) + "x" + std::to_string(keys);
    return lengths + " " + std::to_string(dim) + "/" + std::to_string(heads);
  }
};

constexpr Layout kLayouts[] = {
    {25, 100, 256, 4}, {250, 1000, 256, 8}, {250, 1000, 512, 8}, {1500, 6000, 256, 8},
    {1, 1000, 256, 8}, {100, 0, 64, 4},     {1000, 0, 512, 8},
};

Tensor<float> filled(const Shape& shape, float scale) {
  Tensor<float> result(shape);
  float phase = 0.0f;
  for (float& x : result.elements()) x = scale * std::sin(phase += 1.7f);
  return result;
}

MultiHeadAttention make_layer(std::int64_t dim, int heads, Precision precision) {
  return MultiHeadAttention(
      MultiHeadAttention::FusedParams{.num_heads = heads,
                                      .qkv_weight = filled({3 * dim, dim}, 0.1f),
                                      .qkv_bias = filled({3 * dim}, 0.1f),
                                      .out_weight = filled({dim, dim}, 0.1f),
                                      .out_bias = filled({dim}, 0.1f),
                                      .precision = precision});
}

// Multiplications and additions of the textbook formula.
double flops(std::int64_t queries, std::int64_t keys, std::int64_t dim) {
  const auto q = static_cast<double>(queries);
  const auto k = static_cast<double>(keys);
  const auto d = static_cast<double>(dim);
  return 2 * d * d * (2 * q + 2 * k) + 4 * q * k * d;
}

void set_flops(benchmark::State& state, double flops_of_one) {
  state.counters["flops"] = benchmark::Counter(
      flops_of_one * static_cast<double>(state.iterations()), benchmark::Counter::kIsRate);
}

void attention(benchmark::State& state, const Layout& layout, bool with_weights,
               Precision precision, int threads) {
  const std::int64_t keys = layout.keys == 0 ? layout.queries : layout.keys;
  const MultiHeadAttention layer = make_layer(layout.dim, layout.heads, precision);
  const Tensor<float> video = filled({1, layout.queries, layout.dim}, 1.0f);
  const Tensor<float> audio = filled({1, keys, layout.dim}, 1.0f);
  const Tensor<float>& asked = layout.keys == 0 ? video : audio;
  Tensor<float> out(video.shape());
  Tensor<float> weights;
  if (with_weights) weights = Tensor<float>(Shape{1, layout.heads, layout.queries, keys});
  MultiHeadAttention::Details details;
  if (with_weights) details.weights = weights.view();
  ExecContext context({.num_threads = threads});
  for (auto unused : state) {
    layer.forward(context, video.view(), asked.view(), asked.view(), out.view(), {}, details);
    benchmark::ClobberMemory();
  }
  set_flops(state, flops(layout.queries, keys, layout.dim));
}

// The limit: oneDNN's matrix product at its best.
void matmul(benchmark::State& state, int threads) {
  constexpr std::int64_t kRows = 1024;
  constexpr std::int64_t kDim = 512;
  const Linear layer({.weight = filled({kDim, kDim}, 0.1f)});
  const Tensor<float> in = filled({kRows, kDim}, 1.0f);
  Tensor<float> out(Shape{kRows, kDim});
  ExecContext context({.num_threads = threads});
  for (auto unused : state) layer.forward(context, in.view(), out.view());
  set_flops(state, 2.0 * kRows * kDim * kDim);
}

// The aligner's own shapes: width 128, four heads, 25 Hz video over 100 Hz audio, bands.
void aligner_cross(benchmark::State& state) {
  const std::int64_t queries = state.range(0);
  const std::int64_t keys = 4 * queries + 200;
  const MultiHeadAttention layer = make_layer(128, 4, Precision::kF32);
  const Tensor<float> video = filled({1, queries, 128}, 1.0f);
  const Tensor<float> audio = filled({1, keys, 128}, 1.0f);
  Tensor<float> out(video.shape());
  MultiHeadAttention::Masks masks;
  masks.band = BandMask{.stride = 4, .offset = 100, .width = 100};
  Tensor<float> lags(Shape{1, 4, queries, masks.band->num_lags()});
  ExecContext context;
  for (auto unused : state) {
    layer.forward(context, video.view(), audio.view(), audio.view(), out.view(), masks,
                  {.band_logits = lags.view()});
  }
}
void aligner_self(benchmark::State& state) {
  const MultiHeadAttention layer = make_layer(128, 4, Precision::kF32);
  const Tensor<float> in = filled({1, state.range(0), 128}, 1.0f);
  Tensor<float> out(in.shape());
  MultiHeadAttention::Masks masks;
  masks.band = BandMask{.stride = 1, .offset = 0, .width = 12};
  ExecContext context;
  for (auto unused : state) layer.forward(context, in.view(), out.view(), masks, {});
}
BENCHMARK(aligner_cross)->Arg(25)->Arg(75)->Arg(250);
BENCHMARK(aligner_self)->Arg(25)->Arg(100)->Arg(250)->Arg(1000);

void register_attention(const Layout& layout, bool with_weights, Precision precision, int threads) {
  const std::string name = "attention/" + layout.name() + (with_weights ? " weights" : "") +
                           (precision == Precision::kBf16 ? " bf16" : "") +
                           "/threads:" + std::to_string(threads);
  benchmark::RegisterBenchmark(name.c_str(), [=](benchmark::State& state) {
    attention(state, layout, with_weights, precision, threads);
  })->UseRealTime();
}

void register_all() {
  for (const int threads : {1, 2}) {
    const std::string name = "matmul/threads:" + std::to_string(threads);
    benchmark::RegisterBenchmark(name.c_str(), [threads](benchmark::State& state) {
      matmul(state, threads);
    })->UseRealTime();
    for (const Layout& layout : kLayouts) {
      for (const bool with_weights : {false, true}) {
        register_attention(layout, with_weights, Precision::kF32, threads);
      }
      if (is_native(Precision::kBf16)) {
        register_attention(layout, false, Precision::kBf16, threads);
      }
    }
  }
}

}  // namespace
}  // namespace av_fusion

int main(int argc, char** argv) {
  av_fusion::register_all();
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
}
