// Copyright 2026 The av_fusion authors. SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>
#include <ostream>

#include "av_fusion/nn/multi_head_attention.h"
#include "tests/nn/reference.h"

namespace av_fusion {
namespace {

using Index = std::int64_t;
using Masks = MultiHeadAttention::Masks;
using Params = MultiHeadAttention::Params;

struct Sizes {
  Index batch, queries, keys;
  int heads;
  Index head_dim;
};

enum class Lengths { kAll, kRagged, kFalling };

struct MaskCase {
  const char* name;
  Lengths lengths;
  std::optional<BandMask> band{};
  std::optional<CausalMask> causal{};
  int additive_rank = 0;  // 0: none
};

void PrintTo(const Sizes& s, std::ostream* out) {
  *out << "B" << s.batch << " Tq" << s.queries << " Tk" << s.keys << " H" << s.heads << " dh"
       << s.head_dim;
}
void PrintTo(const MaskCase& mask, std::ostream* out) { *out << mask.name; }

Params random_params(const Sizes& s, Index query_width, Index key_width, Index value_width) {
  const Index dim = s.heads * s.head_dim;
  return {.num_heads = s.heads,
          .query_weight = reference::random_weight(dim, query_width, 11),
          .key_weight = reference::random_weight(dim, key_width, 12),
          .value_weight = reference::random_weight(dim, value_width, 13),
          .query_bias = reference::random({dim}, 14, 0.3f),
          .key_bias = reference::random({dim}, 15, 0.3f),
          .value_bias = reference::random({dim}, 16, 0.3f),
          .out_weight = reference::random_weight(dim, dim, 17),
          .out_bias = reference::random({dim}, 18)};
}

Params copy_of(const Params& p) {
  return {.num_heads = p.num_heads,
          .query_weight = p.query_weight.clone(),
          .key_weight = p.key_weight.clone(),
          .value_weight = p.value_weight.clone(),
          .query_bias = p.query_bias.clone(),
          .key_bias = p.key_bias.clone(),
          .value_bias = p.value_bias.clone(),
          .out_weight = p.out_weight.clone(),
          .out_bias = p.out_bias.clone()};
}

// Ragged: half, 0, everything, as far as the batch goes; falling: everything first.
std::vector<Index> lengths_of(Lengths kind, const Sizes& s) {
  std::vector<Index> lengths;
  if (kind == Lengths::kAll) return lengths;
  const bool ragged = kind == Lengths::kRagged;
  const std::vector<Index> three = {ragged ? (s.keys + 1) / 2 : s.keys, ragged ? 0 : s.keys / 3,
                                    ragged ? s.keys : 1};
  for (Index b = 0; b < s.batch; ++b) lengths.push_back(three[static_cast<std::size_t>(b % 3)]);
  return lengths;
}

// The masks of one case, with the memory behind them.
struct OwnedMasks {
  OwnedMasks(const MaskCase& mask, const Sizes& s) {
    lengths = lengths_of(mask.lengths, s);
    view.key_lengths = lengths;
    view.band = mask.band;
    view.causal = mask.causal;
    if (mask.additive_rank == 0) return;
    const Shape shapes[] = {
        {s.queries, s.keys}, {s.batch, s.queries, s.keys}, {s.batch, s.heads, s.queries, s.keys}};
    additive = reference::random(shapes[mask.additive_rank - 2], 7, 2.0f);
    for (float& x : additive.elements()) {
      if (x < -2.5f) x = -std::numeric_limits<float>::infinity();
    }
    view.additive = additive.view();
  }

  std::vector<Index> lengths;
  Tensor<float> additive;
  Masks view;
};

// What one forward pass fills, with rubbish in it beforehand: everything has to be written.
struct Results {
  Results(const Sizes& s, const std::optional<BandMask>& band)
      : out(Shape{s.batch, s.queries, s.heads * s.head_dim}),
        weights(Shape{s.batch, s.heads, s.queries, s.keys}),
        mean_weights(Shape{s.batch, s.queries, s.keys}) {
    if (band) {
      band_weights = Tensor<float>(Shape{s.batch, s.heads, s.queries, band->num_lags()});
      band_logits = band_weights.clone();
    }
    for (Tensor<float>* tensor : {&out, &weights, &mean_weights, &band_weights, &band_logits}) {
      std::fill(tensor->elements().begin(), tensor->elements().end(), NAN);
    }
  }
  MultiHeadAttention::Details nothing() { return {}; }
  MultiHeadAttention::Details bands() {
    MultiHeadAttention::Details details;
    if (band_weights.empty()) return details;
    details.band_weights = band_weights.view();
    details.band_logits = band_logits.view();
    return details;
  }
  MultiHeadAttention::Details all() {
    MultiHeadAttention::Details details = bands();
    details.weights = weights.view();
    details.mean_weights = mean_weights.view();
    return details;
  }
  // Without logits, which few queries do not have.
  MultiHeadAttention::Details weights_alone() {
    return {.weights = weights.view(), .mean_weights = mean_weights.view()};
  }

  // Compares what was asked for.
  void expect(const reference::Attention& expected, const MultiHeadAttention::Details& asked,
              const std::optional<BandMask>& band, double tolerance) const {
    reference::expect_close(out, expected.out, tolerance, "out");
    const auto band_of = [&](const std::vector<double>& full) {
      return reference::band_of(full, expected.visible, weights.shape(), *band);
    };
    if (asked.weights.data() != nullptr) {
      reference::expect_close(weights, expected.weights, tolerance, "weights");
    }
    if (asked.mean_weights.data() != nullptr) {
      reference::expect_close(mean_weights,
                              reference::mean_of_heads(expected.weights, weights.shape()),
                              tolerance, "mean_weights");
    }
    if (asked.band_weights.data() != nullptr) {
      reference::expect_close(band_weights, band_of(expected.weights), tolerance, "band_weights");
    }
    if (asked.band_logits.data() != nullptr) {
      reference::expect_close(band_logits, band_of(expected.scores), tolerance, "band_logits");
    }
  }

  Tensor<float> out, weights, mean_weights, band_weights, band_logits;
};

class Attention : public testing::TestWithParam<std::tuple<Sizes, MaskCase>> {
 protected:
  static constexpr double kTolerance = 1e-5;
  static constexpr double kBf16Tolerance = 0.12;  // logits go up to 15
  Sizes sizes() const { return std::get<0>(GetParam()); }
  MaskCase mask() const { return std::get<1>(GetParam()); }
};

TEST_P(Attention, CrossAgreesWithPlainLoops) {
  const Sizes s = sizes();
  const OwnedMasks masks(mask(), s);
  const Params params = random_params(s, 10, 3, 21);
  const Tensor<float> query = reference::random({s.batch, s.queries, 10}, 1);
  const Tensor<float> key = reference::random({s.batch, s.keys, 3}, 2);
  const Tensor<float> value = reference::random({s.batch, s.keys, 21}, 3);
  const reference::Attention expected = reference::attention(params, query, key, value, masks.view);

  const MultiHeadAttention layer(copy_of(params));
  for (const int threads : {1, 3}) {
    ExecContext context({.num_threads = threads});
    const auto run = [&](auto ask) {
      Results results(s, mask().band);
      const MultiHeadAttention::Details details = (results.*ask)();
      layer.forward(context, query.view(), key.view(), value.view(), results.out.view(), masks.view,
                    details);
      results.expect(expected, details, mask().band, kTolerance);
    };
    run(&Results::nothing);  // first, before others leave right numbers in scratch memory
    run(&Results::bands);
    run(&Results::all);
    run(&Results::weights_alone);
  }
}

MultiHeadAttention::FusedParams fused(const Params& params) {
  const Index dim = params.out_weight.dim(0);
  MultiHeadAttention::FusedParams result{params.num_heads, Tensor<float>(Shape{3 * dim, dim}),
                                         Tensor<float>(Shape{3 * dim}), params.out_weight.clone(),
                                         params.out_bias.clone()};
  float* to = result.qkv_weight.data();
  for (const auto* weight : {&params.query_weight, &params.key_weight, &params.value_weight}) {
    to = std::copy(weight->elements().begin(), weight->elements().end(), to);
  }
  to = result.qkv_bias.data();
  for (const auto* bias : {&params.query_bias, &params.key_bias, &params.value_bias}) {
    to = std::copy(bias->elements().begin(), bias->elements().end(), to);
  }
  return result;
}

TEST_P(Attention, FusedSelfAgreesWithPlainLoops) {
  Sizes s = sizes();
  s.keys = s.queries;
  const Index dim = s.heads * s.head_dim;
  const OwnedMasks masks(mask(), s);
  const Params params = random_params(s, dim, dim, dim);
  const Tensor<float> x = reference::random({s.batch, s.queries, dim}, 1);
  const reference::Attention expected = reference::attention(params, x, x, x, masks.view);

  const MultiHeadAttention layer(fused(params));
  EXPECT_EQ(layer.embed_dim(), dim);
  EXPECT_EQ(layer.num_heads(), s.heads);
  ExecContext context;
  Results plain(s, mask().band);
  layer.forward(context, x.view(), plain.out.view(), masks.view, {});
  plain.expect(expected, {}, mask().band, kTolerance);
  Results all(s, mask().band);
  layer.forward(context, x.view(), all.out.view(), masks.view, all.all());
  all.expect(expected, all.all(), mask().band, kTolerance);
}

// bfloat16 has 8 bits of precision; the errors of many products average out.
TEST_P(Attention, Bf16AgreesWithPlainLoopsToTwoDigits) {
  if (!is_native(Precision::kBf16)) GTEST_SKIP() << "this processor has no bfloat16 products";
  const Sizes s = sizes();
  const OwnedMasks masks(mask(), s);
  Params params = random_params(s, 10, 3, 21);
  const Tensor<float> query = reference::random({s.batch, s.queries, 10}, 1);
  const Tensor<float> key = reference::random({s.batch, s.keys, 3}, 2);
  const Tensor<float> value = reference::random({s.batch, s.keys, 21}, 3);
  const reference::Attention expected = reference::attention(params, query, key, value, masks.view);
  params.precision = Precision::kBf16;
  const MultiHeadAttention layer(std::move(params));
  for (const int threads : {1, 3}) {
    ExecContext context({.num_threads = threads});
    Results plain(s, mask().band);
    layer.forward(context, query.view(), key.view(), value.view(), plain.out.view(), masks.view,
                  {});
    plain.expect(expected, {}, mask().band, kBf16Tolerance);
    Results all(s, mask().band);
    layer.forward(context, query.view(), key.view(), value.view(), all.out.view(), masks.view,
                  all.all());
    all.expect(expected, all.all(), mask().band, kBf16Tolerance);
  }
}

INSTANTIATE_TEST_SUITE_P(
    Odd, Attention,
    testing::Combine(
        testing::Values(Sizes{1, 1, 1, 1, 1}, Sizes{2, 1, 7, 3, 1}, Sizes{1, 5, 1, 2, 3},
                        Sizes{3, 13, 29, 1, 17}, Sizes{2, 67, 11, 4, 8}, Sizes{1, 3, 401, 2, 16},
                        Sizes{3, 31, 131, 4, 32}, Sizes{1, 211, 50, 1, 5}),
        testing::Values(MaskCase{"all", Lengths::kAll}, MaskCase{"ragged", Lengths::kRagged},
                        MaskCase{"diagonal", Lengths::kAll, BandMask{1, 0, 0}},
                        MaskCase{"local", Lengths::kAll, BandMask{1, 0, 12}},
                        MaskCase{"ragged_local", Lengths::kRagged, BandMask{1, -1, 5}},
                        MaskCase{"audio", Lengths::kAll, BandMask{4, 3, 10}},
                        MaskCase{"ragged_audio", Lengths::kRagged, BandMask{4, -20, 30}},
                        MaskCase{"gaps", Lengths::kAll, BandMask{9, 1, 2}},
                        MaskCase{"fixed", Lengths::kAll, BandMask{0, 4, 3}},
                        MaskCase{"before", Lengths::kAll, BandMask{1, -1000, 6}},
                        MaskCase{"after", Lengths::kRagged, BandMask{2, 1000, 6}},
                        MaskCase{"wider_than_all", Lengths::kRagged, BandMask{1, 0, 700}},
                        MaskCase{"causal", Lengths::kAll, {}, CausalMask{}},
                        MaskCase{"causal_audio", Lengths::kRagged, {}, CausalMask{4, 3}},
                        MaskCase{"causal_never", Lengths::kAll, {}, CausalMask{1, -40}},
                        MaskCase{"causal_local", Lengths::kAll, BandMask{1, 0, 12}, CausalMask{}},
                        MaskCase{"additive", Lengths::kAll, {}, {}, 2},
                        MaskCase{"additive_batch", Lengths::kRagged, {}, CausalMask{2, 5}, 3},
                        MaskCase{"additive_heads", Lengths::kAll, BandMask{4, 3, 10}, {}, 4})));

// Many queries and keys: several blocks of both, keys and values packed once.
INSTANTIATE_TEST_SUITE_P(
    Long, Attention,
    testing::Combine(testing::Values(Sizes{1, 523, 701, 2, 8}, Sizes{2, 140, 3001, 3, 5}),
                     testing::Values(MaskCase{"all", Lengths::kAll},
                                     MaskCase{"ragged", Lengths::kRagged},
                                     MaskCase{"causal", Lengths::kRagged, {}, CausalMask{1, 30}},
                                     MaskCase{"wide", Lengths::kAll, BandMask{5, 20, 1200}},
                                     MaskCase{"additive", Lengths::kAll, {}, {}, 4})));

// Bands so wide that the scores of a long sequence are cut into blocks of keys, while those of a
// short one in the same batch need not be. Many queries (packed) and fewer.
INSTANTIATE_TEST_SUITE_P(
    WideBand, Attention,
    testing::Combine(testing::Values(Sizes{3, 300, 900, 8, 4}, Sizes{3, 200, 900, 8, 3}),
                     testing::Values(MaskCase{"rising", Lengths::kRagged, BandMask{1, 0, 400}},
                                     MaskCase{"falling", Lengths::kFalling, BandMask{1, 0, 400}},
                                     MaskCase{"causal", Lengths::kFalling, BandMask{2, 30, 500},
                                              CausalMask{3, 10}})));

// A result that is added to what stands there already, also in place of an input.
TEST(AttentionUse, AccumulateAddsToTheOutput) {
  const Sizes s{2, 7, 7, 2, 4};
  const Params params = random_params(s, 8, 8, 8);
  const MultiHeadAttention layer(copy_of(params));
  const Tensor<float> before = reference::random({2, 7, 8}, 1);
  const reference::Attention attended = reference::attention(params, before, before, before);
  std::vector<double> expected = reference::to_doubles(before);
  for (std::size_t i = 0; i < expected.size(); ++i) expected[i] += attended.out[i];
  Tensor<float> x = before.clone();
  ExecContext context;
  layer.forward(context, x.view(), x.view(), {}, {}, /*accumulate=*/true);
  reference::expect_close(x, expected, 1e-5, "x + attention(x)");
}

// One query does not wait for the projections of all keys and values: there is no memory for them.
TEST(AttentionUse, FewQueriesDoNotProjectAllKeys) {
  const Sizes s{1, 1, 4000, 4, 16};
  const MultiHeadAttention layer(random_params(s, 64, 64, 64));
  const Tensor<float> x = reference::random({1, 1, 64}, 1);
  const Tensor<float> y = reference::random({1, s.keys, 64}, 2);
  Tensor<float> out(x.shape());
  ExecContext context;
  layer.forward(context, x.view(), y.view(), y.view(), out.view());
  EXPECT_LT(context.scratch_bytes(), static_cast<std::size_t>(s.keys) * 64 * sizeof(float));
}

// A few queries take another way through the layer than many: each must give what it would among
// the others.
TEST(AttentionUse, OneQueryGetsWhatItGetsAmongMany) {
  const Sizes s{1, 64, 300, 4, 16};
  const MultiHeadAttention layer(random_params(s, 64, 64, 64));
  const Tensor<float> x = reference::random({1, s.queries, 64}, 1);
  const Tensor<float> y = reference::random({1, s.keys, 64}, 2);
  Tensor<float> together(x.shape());
  ExecContext context;
  layer.forward(context, x.view(), y.view(), y.view(), together.view());
  for (Index i = 0; i < s.queries; ++i) {
    Tensor<float> alone(Shape{1, 1, 64});
    layer.forward(context, {x.data() + i * 64, {1, 1, 64}}, y.view(), y.view(), alone.view());
    for (Index c = 0; c < 64; ++c) {
      ASSERT_NEAR(alone.view()(0, 0, c), together.view()(0, i, c), 1e-5f) << i << " " << c;
    }
  }
}

TEST(AttentionShapes, OursAgreeWithPlainLoops) {
  const Sizes s{1, 75, 500, 4, 32};
  const BandMask band{4, 100, 100};
  const Params params = random_params(s, 128, 128, 128);
  const Tensor<float> query = reference::random({1, s.queries, 128}, 1);
  const Tensor<float> audio = reference::random({1, s.keys, 128}, 2);
  const reference::Attention expected =
      reference::attention(params, query, audio, audio, {{}, band});
  const MultiHeadAttention layer(copy_of(params));
  ExecContext context;
  Results results(s, band);
  layer.forward(context, query.view(), audio.view(), audio.view(), results.out.view(), {{}, band},
                results.bands());
  reference::expect_close(results.out, expected.out, 1e-5, "out");
  reference::expect_close(
      results.band_logits,
      reference::band_of(expected.scores, expected.visible, results.weights.shape(), band), 1e-5,
      "band_logits");
}

// Scores around 1e4: only the difference to the largest counts, and nothing overflows.
TEST(AttentionExtremes, LargeScoresStayFinite) {
  const Sizes s{1, 19, 83, 2, 8};
  Params params = random_params(s, 16, 16, 16);
  for (float& w : params.query_weight.elements()) w *= 5e3f;
  const Tensor<float> x = reference::random({1, s.queries, 16}, 1);
  const Tensor<float> y = reference::random({1, s.keys, 16}, 2);
  const std::optional<BandMask> bands[] = {std::nullopt, BandMask{4, 0, 20}};
  for (const std::optional<BandMask>& band : bands) {
    const reference::Attention expected = reference::attention(params, x, y, y, {{}, band});
    EXPECT_GT(*std::max_element(expected.scores.begin(), expected.scores.end()), 1e4);
    EXPECT_LT(*std::min_element(expected.scores.begin(), expected.scores.end()), -1e4);
    const MultiHeadAttention layer(copy_of(params));
    ExecContext context;
    Results results(s, band);
    layer.forward(context, x.view(), y.view(), y.view(), results.out.view(), {{}, band},
                  results.all());
    // f32 scores of 1e4 are good to about 1e-2, and the weights with them.
    reference::expect_close(results.weights, expected.weights, 2e-2, "weights");
    reference::expect_close(results.out, expected.out, 5e-2, "out");
    for (Index row = 0; row < s.heads * s.queries; ++row) {
      const float* weights = results.weights.data() + row * s.keys;
      EXPECT_NEAR(std::accumulate(weights, weights + s.keys, 0.0), 1.0, 1e-5);
    }
  }
}

TEST(AttentionMasks, AQueryThatSeesNothingGetsTheBiasExactly) {
  const Sizes s{2, 30, 20, 2, 4};
  const Params params = random_params(s, 8, 8, 8);
  const MultiHeadAttention layer(copy_of(params));
  const Tensor<float> x = reference::random({2, 30, 8}, 1);
  const Tensor<float> y = reference::random({2, 20, 8}, 2);
  const std::vector<Index> lengths{20, 0};
  const BandMask band{1, 0, 3};
  ExecContext context;
  Results results(s, band);
  layer.forward(context, x.view(), y.view(), y.view(), results.out.view(), {lengths, band},
                results.all());
  const auto expect_blind = [&](Index b, Index i) {
    for (Index c = 0; c < 8; ++c) {
      EXPECT_EQ(results.out.view()(b, i, c), params.out_bias.view()(c)) << b << " " << i;
    }
    for (Index head = 0; head < s.heads; ++head) {
      for (Index j = 0; j < s.keys; ++j) EXPECT_EQ(results.weights.view()(b, head, i, j), 0.0f);
      for (Index lag = 0; lag < band.num_lags(); ++lag) {
        EXPECT_EQ(results.band_weights.view()(b, head, i, lag), 0.0f);
        EXPECT_EQ(results.band_logits.view()(b, head, i, lag), 0.0f);
      }
    }
  };
  for (Index i = 0; i < s.queries; ++i) expect_blind(1, i);
  for (Index i = 23; i < s.queries; ++i) expect_blind(0, i);
  EXPECT_GT(results.weights.view()(0, 0, 22, 19), 0.0f);
}

// What lies beyond the valid length must not matter, not even as 0 times NaN.
TEST(AttentionMasks, PaddingIsNotRead) {
  const Sizes s{1, 12, 40, 2, 4};
  const MultiHeadAttention layer(random_params(s, 8, 8, 8));
  const Tensor<float> x = reference::random({1, 12, 8}, 1);
  Tensor<float> y = reference::random({1, 40, 8}, 2);
  const std::vector<Index> lengths{23};
  const std::optional<BandMask> bands[] = {std::nullopt, BandMask{3, 0, 9}};
  for (const std::optional<BandMask>& band : bands) {
    ExecContext context;
    Results clean(s, band);
    layer.forward(context, x.view(), y.view(), y.view(), clean.out.view(), {lengths, band},
                  clean.all());
    Tensor<float> dirty = y.clone();
    std::fill(dirty.data() + 23 * 8, dirty.data() + 40 * 8, NAN);
    Results results(s, band);
    layer.forward(context, x.view(), dirty.view(), dirty.view(), results.out.view(),
                  {lengths, band}, results.all());
    EXPECT_EQ(0,
              std::memcmp(clean.out.data(), results.out.data(), clean.out.elements().size_bytes()));
    EXPECT_EQ(0, std::memcmp(clean.weights.data(), results.weights.data(),
                             clean.weights.elements().size_bytes()));
  }
}

// Scratch memory grows with the number of tokens, not with queries times keys: there is no [Tq, Tk]
// array, whatever is asked for.
class AttentionMemory : public testing::TestWithParam<MaskCase> {
 protected:
  static std::size_t scratch_bytes(Index length, bool with_weights) {
    const Sizes s{1, length, length, 4, 8};
    const MultiHeadAttention layer(random_params(s, 32, 32, 32));
    const Tensor<float> x = reference::random({1, length, 32}, 1);
    Tensor<float> out(x.shape());
    Tensor<float> weights;
    if (with_weights) weights = Tensor<float>(Shape{1, 4, length, length});
    ExecContext context;
    layer.forward(context, x.view(), out.view(), {{}, GetParam().band},
                  {.weights = with_weights ? weights.view() : TensorView<float>()});
    return context.scratch_bytes();
  }
};

TEST_P(AttentionMemory, IsLinear) {
  for (const bool with_weights : {false, true}) {
    const auto bytes = [&](Index length) {
      return static_cast<double>(scratch_bytes(length, with_weights));
    };
    const double small = bytes(1000);
    const double medium = bytes(2000);
    const double large = bytes(4000);
    EXPECT_LT(large - medium, 2.5 * (medium - small)) << "four times would be quadratic";
    EXPECT_LT(large, 0.1 * 4 * 4000 * 4000 * sizeof(float));
  }
}

INSTANTIATE_TEST_SUITE_P(Masks, AttentionMemory,
                         testing::Values(MaskCase{"all", Lengths::kAll},
                                         MaskCase{"local", Lengths::kAll, BandMask{1, 0, 12}}),
                         [](const auto& test) { return std::string(test.param.name); });

}  // namespace
}  // namespace av_fusion
