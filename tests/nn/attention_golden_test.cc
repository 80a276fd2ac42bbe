// Copyright 2026 The av_fusion authors. SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

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

struct CrossCase {
  std::string name;
  int num_heads;
  std::optional<BandMask> band;
};

class CrossAttentionGolden : public testing::TestWithParam<CrossCase> {};

TEST_P(CrossAttentionGolden, OutputAndWeightsAgree) {
  const auto get = [](const char* name) { return golden().get(GetParam().name + name); };
  const auto find = [](const char* name) { return golden().find(GetParam().name + name); };
  const MultiHeadAttention layer(MultiHeadAttention::Params{.num_heads = GetParam().num_heads,
                                                            .query_weight = get(".query_weight"),
                                                            .key_weight = get(".key_weight"),
                                                            .value_weight = get(".value_weight"),
                                                            .query_bias = find(".query_bias"),
                                                            .key_bias = find(".key_bias"),
                                                            .value_bias = find(".value_bias"),
                                                            .out_weight = get(".out_weight"),
                                                            .out_bias = find(".out_bias")});
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

}  // namespace
}  // namespace av_fusion
