// Copyright 2026 The av_fusion authors. SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>
#include <ostream>
#include <vector>

#include "av_fusion/nn/multi_head_attention.h"
#include "tests/nn/block_reference.h"

// Masks and numbers at the limits, on each way through the layer.
namespace av_fusion {
namespace {

using Masks = MultiHeadAttention::Masks;

constexpr std::int64_t kMost = std::int64_t{1} << 31;
constexpr float kInfinity = std::numeric_limits<float>::infinity();

// Queries decide the way: few, one block of some, or many blocks with packed keys.
struct Extent {
  std::int64_t queries;
  std::int64_t keys;
};
void PrintTo(const Extent& extent, std::ostream* out) {
  *out << extent.queries << " queries, " << extent.keys << " keys";
}

class AttentionEdges : public testing::TestWithParam<Extent> {
 protected:
  static constexpr std::int64_t kDim = 32;
  static constexpr int kHeads = 2;

  struct Result {
    Tensor<float> out, weights, mean_weights;
  };

  Result run(const Masks& masks, bool with_weights) const {
    Result result{Tensor<float>(query_.shape()), {}, {}};
    std::fill(result.out.elements().begin(), result.out.elements().end(), NAN);
    MultiHeadAttention::Details details;
    if (with_weights) {
      result.weights = Tensor<float>(Shape{1, kHeads, queries_, keys_});
      result.mean_weights = Tensor<float>(Shape{1, queries_, keys_});
      details = {.weights = result.weights.view(), .mean_weights = result.mean_weights.view()};
    }
    ExecContext context;
    layer_.forward(context, query_.view(), key_.view(), value_.view(), result.out.view(), masks,
                   details);
    return result;
  }

  void expect_reference(const Masks& masks) const {
    const reference::Attention expected =
        reference::attention(params(), query_, key_, value_, masks);
    reference::expect_close(run(masks, false).out, expected.out, 1e-5, "out");
    const Result result = run(masks, true);
    reference::expect_close(result.out, expected.out, 1e-5, "out with weights");
    reference::expect_close(result.weights, expected.weights, 1e-5, "weights");
    reference::expect_close(result.mean_weights,
                            reference::mean_of_heads(expected.weights, result.weights.shape()),
                            1e-5, "mean_weights");
  }

  static MultiHeadAttention::Params params() {
    return reference::attention_params(kDim, kDim, kHeads, 5);
  }
  // Whether all, or none, of the numbers of this query's output are NaN.
  static bool row_is_nan(const Tensor<float>& out, std::int64_t i) {
    std::int64_t count = 0;
    for (std::int64_t c = 0; c < kDim; ++c) count += std::isnan(out.view()(0, i, c)) ? 1 : 0;
    EXPECT_TRUE(count == 0 || count == kDim) << "query " << i << ": " << count << " are NaN";
    return count > 0;
  }

  const std::int64_t queries_ = GetParam().queries;
  const std::int64_t keys_ = GetParam().keys;
  const MultiHeadAttention::Params params_ = params();
  const MultiHeadAttention layer_{params()};
  Tensor<float> query_ = reference::random({1, queries_, kDim}, 1);
  Tensor<float> key_ = reference::random({1, keys_, kDim}, 2);
  Tensor<float> value_ = reference::random({1, keys_, kDim}, 3);
};

TEST_P(AttentionEdges, MasksThatHideNothingChangeNothing) {
  std::vector<Masks> all(4);
  all[1].band = BandMask{1, 0, kMost};
  all[2].causal = CausalMask{kMost, kMost};
  all[3].band = BandMask{0, -kMost, kMost};
  all[3].band->offset += keys_;
  for (const Masks& masks : all) expect_reference(masks);
}

TEST_P(AttentionEdges, MasksThatHideEverythingLeaveTheBias) {
  std::vector<Masks> all(5);
  const std::vector<std::int64_t> none{0};
  const Tensor<float> additive = [&] {
    Tensor<float> mask(Shape{queries_, keys_});
    std::fill(mask.elements().begin(), mask.elements().end(), -kInfinity);
    return mask;
  }();
  all[0].key_lengths = none;
  all[1].causal = CausalMask{0, -kMost};
  all[2].band = BandMask{kMost, kMost, 0};
  all[3].band = BandMask{1, -kMost, 9};
  all[4].additive = additive.view();
  for (std::size_t m = 0; m < all.size(); ++m) {
    const Result result = run(all[m], true);
    const Result plain = run(all[m], false);
    for (std::int64_t i = 0; i < queries_; ++i) {
      for (std::int64_t c = 0; c < kDim; ++c) {
        ASSERT_EQ(result.out.view()(0, i, c), params_.out_bias.view()(c)) << "mask " << m;
        ASSERT_EQ(plain.out.view()(0, i, c), params_.out_bias.view()(c)) << "mask " << m;
      }
    }
    for (const float weight : result.weights.elements()) ASSERT_EQ(weight, 0.0f);
    for (const float weight : result.mean_weights.elements()) ASSERT_EQ(weight, 0.0f);
  }
}

TEST_P(AttentionEdges, RowsMayBeginWithKeysHiddenByMinusInfinity) {
  Tensor<float> additive = reference::random({queries_, keys_}, 4);
  for (std::int64_t i = 0; i < queries_; ++i) {
    const std::int64_t hidden = i % 3 == 0 ? 0 : i % 3 == 1 ? keys_ * 2 / 3 : keys_ - 1;
    std::fill_n(additive.data() + i * keys_, hidden, -kInfinity);
  }
  Masks masks;
  masks.additive = additive.view();
  expect_reference(masks);
}

// Scores that grow along the keys, by far more than e^x spans from one block of keys to the next.
TEST_P(AttentionEdges, ScoresMayRiseFromBlockToBlock) {
  Tensor<float> additive(Shape{queries_, keys_});
  for (std::int64_t i = 0; i < queries_; ++i) {
    const float slope = static_cast<float>(i % 5 - 2) * 300.0f / static_cast<float>(keys_);
    for (std::int64_t j = 0; j < keys_; ++j) additive.view()(i, j) = slope * static_cast<float>(j);
  }
  Masks masks;
  masks.additive = additive.view();
  const reference::Attention expected = reference::attention(params(), query_, key_, value_, masks);
  const Result result = run(masks, true);
  reference::expect_close(result.out, expected.out, 1e-4, "out");
  reference::expect_close(result.weights, expected.weights, 1e-4, "weights");
  reference::expect_close(run(masks, false).out, expected.out, 1e-4, "out alone");
}

// Whatever bits the NaN has: the last two are those of CUDA and of one with a payload.
TEST_P(AttentionEdges, NotANumberInAQueryStaysInItsRow) {
  for (const std::uint32_t bits : {0x7fc00000u, 0x7fffffffu, 0xffc00001u}) {
    const Tensor<float> before = query_.clone();
    const std::int64_t row = queries_ / 2;
    query_.view()(0, row, 3) = std::bit_cast<float>(bits);
    for (const bool with_weights : {false, true}) {
      const Result result = run({}, with_weights);
      for (std::int64_t i = 0; i < queries_; ++i) {
        EXPECT_EQ(row_is_nan(result.out, i), i == row) << std::hex << bits << " query " << i;
      }
      if (!with_weights) continue;
      for (std::int64_t j = 0; j < keys_; ++j) {
        ASSERT_TRUE(std::isnan(result.weights.view()(0, 0, row, j))) << std::hex << bits;
      }
    }
    query_ = before.clone();
  }
}

TEST_P(AttentionEdges, NotANumberInAKeyReachesWhoSeesIt) {
  for (const std::uint32_t bits : {0x7fc00000u, 0x7fffffffu, 0xffc00001u}) {
    for (Tensor<float>* tensor : {&key_, &value_}) {
      const Tensor<float> before = tensor->clone();
      tensor->view()(0, keys_ / 2, 3) = std::bit_cast<float>(bits);
      for (const bool with_weights : {false, true}) {
        const Result result = run({}, with_weights);
        for (std::int64_t i = 0; i < queries_; ++i) {
          EXPECT_TRUE(row_is_nan(result.out, i)) << std::hex << bits << " query " << i;
        }
      }
      *tensor = before.clone();
    }
  }
}

// A key that is infinite has a score of plus or minus infinity, or none: no plain number may come
// of it, unless it is hidden by it.
TEST_P(AttentionEdges, InfinityDoesNotPassForANumber) {
  value_.view()(0, keys_ - 1, 0) = kInfinity;
  const Result result = run({}, false);
  for (std::int64_t i = 0; i < queries_; ++i) {
    bool all_finite = true;
    for (std::int64_t c = 0; c < kDim; ++c) {
      all_finite = all_finite && std::isfinite(result.out.view()(0, i, c));
    }
    EXPECT_FALSE(all_finite) << i;
  }
}

// 0 times NaN is NaN, but a query that sees nothing does not read the values.
TEST_P(AttentionEdges, AQueryThatSeesNothingGetsTheBiasWhateverOthersSee) {
  value_.view()(0, 0, 0) = NAN;
  Masks masks;
  masks.causal = CausalMask{1, -queries_ / 2};
  const Result result = run(masks, false);
  for (std::int64_t i = 0; i < queries_ / 2; ++i) {
    for (std::int64_t c = 0; c < kDim; ++c) {
      ASSERT_EQ(result.out.view()(0, i, c), params_.out_bias.view()(c)) << i;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Ways, AttentionEdges,
                         testing::Values(Extent{1, 1}, Extent{2, 700}, Extent{1, 61}, Extent{61, 1},
                                         Extent{73, 1031}, Extent{307, 523}),
                         [](const auto& test) {
                           return std::to_string(test.param.queries) + "x" +
                                  std::to_string(test.param.keys);
                         });

}  // namespace
}  // namespace av_fusion
