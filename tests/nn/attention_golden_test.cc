// Copyright 2026 The av_fusion authors. SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>

#include "av_fusion/nn/multi_head_attention.h"
#include "tests/nn/golden_file.h"
#include "tests/nn/reference.h"

// Attention as PyTorch computes it (make_golden.py): torch.nn.MultiheadAttention, and the plain
// module with one Linear(D, 3 D).
namespace av_fusion {
namespace {

const GoldenFile& golden() {
  static const GoldenFile file("attention.golden");
  return file;
}

struct SelfCase {
  std::string name;
  int num_heads;
  std::vector<std::int64_t> lengths;
};

class SelfAttentionGolden : public testing::TestWithParam<SelfCase> {
 protected:
  Tensor<float> get(const char* name) const { return golden().get(GetParam().name + name); }
  Tensor<float> find(const char* name) const { return golden().find(GetParam().name + name); }
  MultiHeadAttention layer() const {
    return MultiHeadAttention(
        MultiHeadAttention::FusedParams{GetParam().num_heads, get(".qkv_weight"), find(".qkv_bias"),
                                        get(".out_weight"), find(".out_bias")});
  }
};

TEST_P(SelfAttentionGolden, OutputAndWeightsAgree) {
  const Tensor<float> in = get(".in");
  Tensor<float> out(in.shape());
  Tensor<float> weights(get(".weights").shape());
  ExecContext context;
  const MultiHeadAttention::Masks masks{.key_lengths = GetParam().lengths, .band = {}};
  layer().forward(context, in.view(), out.view(), masks, {.weights = weights.view()});
  reference::expect_close(out, reference::to_doubles(get(".out")), 1e-5, "out");
  reference::expect_close(weights, reference::to_doubles(get(".weights")), 1e-5, "weights");
}

TEST_P(SelfAttentionGolden, OutputAgreesWithoutWeightsAndThroughSeparateProjections) {
  const Tensor<float> in = get(".in");
  Tensor<float> out(in.shape());
  ExecContext context;
  const MultiHeadAttention attention = layer();
  const MultiHeadAttention::Masks masks{.key_lengths = GetParam().lengths, .band = {}};
  attention.forward(context, in.view(), out.view(), masks, {});
  reference::expect_close(out, reference::to_doubles(get(".out")), 1e-5, "fused");
  attention.forward(context, in.view(), in.view(), in.view(), out.view(), masks, {});
  reference::expect_close(out, reference::to_doubles(get(".out")), 1e-5, "separate");
}

INSTANTIATE_TEST_SUITE_P(PyTorch, SelfAttentionGolden,
                         testing::Values(SelfCase{"self", 4, {}}, SelfCase{"self_no_bias", 5, {}},
                                         SelfCase{"self_lengths", 3, {17, 9, 1}},
                                         SelfCase{"plain", 4, {}}),
                         [](const auto& test) { return test.param.name; });

MultiHeadAttention::Params separate(const GoldenFile& file, const std::string& name,
                                    int num_heads) {
  return {.num_heads = num_heads,
          .query_weight = file.get(name + ".query_weight"),
          .key_weight = file.get(name + ".key_weight"),
          .value_weight = file.get(name + ".value_weight"),
          .query_bias = file.find(name + ".query_bias"),
          .key_bias = file.find(name + ".key_bias"),
          .value_bias = file.find(name + ".value_bias"),
          .out_weight = file.get(name + ".out_weight"),
          .out_bias = file.find(name + ".out_bias")};
}

struct CrossCase {
  std::string name;
  int num_heads;
  std::optional<BandMask> band;
};

class CrossAttentionGolden : public testing::TestWithParam<CrossCase> {};

TEST_P(CrossAttentionGolden, OutputAndWeightsAgree) {
  const auto get = [](const char* name) { return golden().get(GetParam().name + name); };
  const MultiHeadAttention layer(separate(golden(), GetParam().name, GetParam().num_heads));
  const Tensor<float> query = get(".query");
  const Tensor<float> key = get(".key");
  const Tensor<float> value = get(".value");
  Tensor<float> out(get(".out").shape());
  Tensor<float> weights(get(".weights").shape());
  ExecContext context;
  layer.forward(context, query.view(), key.view(), value.view(), out.view(),
                {.key_lengths = {}, .band = GetParam().band}, {.weights = weights.view()});
  reference::expect_close(out, reference::to_doubles(get(".out")), 1e-5, "out");
  reference::expect_close(weights, reference::to_doubles(get(".weights")), 1e-5, "weights");
}

INSTANTIATE_TEST_SUITE_P(PyTorch, CrossAttentionGolden,
                         testing::Values(CrossCase{"cross", 4, {}},
                                         CrossCase{"cross_no_bias", 2, {}},
                                         CrossCase{"cross_band", 4, BandMask{4, 10, 21}}),
                         [](const auto& test) { return test.param.name; });

// is_causal, float masks and average_attn_weights of PyTorch; sequences so long that keys and
// values are packed, and so few queries that the keys are not projected.
struct MaskedCase {
  std::string name;
  int num_heads;
  bool causal = false;
};

class MaskedAttentionGolden : public testing::TestWithParam<MaskedCase> {
 protected:
  // The queries whose weights are in the file.
  static Tensor<float> rows_of(const Tensor<float>& weights, const Tensor<float>& rows) {
    const std::int64_t keys = weights.shape()[weights.shape().rank() - 1];
    const std::int64_t queries = weights.shape()[weights.shape().rank() - 2];
    const std::int64_t planes = weights.num_elements() / (queries * keys);
    Tensor<float> result(Shape{planes, rows.num_elements(), keys});
    float* to = result.data();
    for (std::int64_t plane = 0; plane < planes; ++plane) {
      for (const float row : rows.elements()) {
        const float* from =
            weights.data() + (plane * queries + static_cast<std::int64_t>(row)) * keys;
        to = std::copy_n(from, keys, to);
      }
    }
    return result;
  }
};

TEST_P(MaskedAttentionGolden, OutputAndWeightsAgree) {
  static const GoldenFile file("masked_attention.golden");
  const auto get = [](const char* name) { return file.get(GetParam().name + name); };
  const MultiHeadAttention layer(separate(file, GetParam().name, GetParam().num_heads));
  const Tensor<float> query = get(".query");
  const Tensor<float> key = get(".key");
  const Tensor<float> value = get(".value");
  const Tensor<float> additive = file.find(GetParam().name + ".additive");
  MultiHeadAttention::Masks masks;
  if (GetParam().causal) masks.causal = CausalMask{};
  if (!additive.empty()) masks.additive = additive.view();

  const std::vector<double> expected = file.doubles(GetParam().name + ".out");
  for (const int threads : {1, 2}) {
    ExecContext context({.num_threads = threads});
    Tensor<float> out(query.shape());
    layer.forward(context, query.view(), key.view(), value.view(), out.view(), masks, {});
    reference::expect_close(out, expected, 1e-5, "out");

    Tensor<float> weights(Shape{query.dim(0), GetParam().num_heads, query.dim(1), key.dim(1)});
    Tensor<float> mean(Shape{query.dim(0), query.dim(1), key.dim(1)});
    layer.forward(context, query.view(), key.view(), value.view(), out.view(), masks,
                  {.weights = weights.view(), .mean_weights = mean.view()});
    reference::expect_close(out, expected, 1e-5, "out with weights");
    const Tensor<float> rows = get(".rows");
    reference::expect_close(rows_of(weights, rows), reference::to_doubles(get(".weights")), 1e-5,
                            "weights");
    reference::expect_close(rows_of(mean, rows), reference::to_doubles(get(".mean_weights")), 1e-5,
                            "mean_weights");
  }
}

INSTANTIATE_TEST_SUITE_P(PyTorch, MaskedAttentionGolden,
                         testing::Values(MaskedCase{"causal", 3, true}, MaskedCase{"additive", 3},
                                         MaskedCase{"additive_heads", 3}, MaskedCase{"few", 4},
                                         MaskedCase{"long", 2}, MaskedCase{"long_causal", 2, true}),
                         [](const auto& test) { return test.param.name; });

}  // namespace
}  // namespace av_fusion
