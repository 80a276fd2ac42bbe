// Copyright 2026 The av_fusion authors. SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <limits>

#include "av_fusion/core/error.h"
#include "av_fusion/nn/multi_head_attention.h"
#include "tests/nn/reference.h"

namespace av_fusion {
namespace {

using Params = MultiHeadAttention::Params;

Params make_params(std::int64_t dim, int heads) {
  return {.num_heads = heads,
          .query_weight = Tensor<float>(Shape{dim, 6}),
          .key_weight = Tensor<float>(Shape{dim, 5}),
          .value_weight = Tensor<float>(Shape{dim, 4}),
          .query_bias = {},
          .key_bias = {},
          .value_bias = {},
          .out_weight = Tensor<float>(Shape{dim, dim}),
          .out_bias = {}};
}

template <typename Call>
void expect_error(ErrorCode code, const std::string& message, const Call& call) {
  try {
    call();
    ADD_FAILURE() << "expected: " << message;
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), code) << error.what();
    EXPECT_EQ(error.what(), "multi_head_attention" + message);
  }
}

TEST(AttentionParams, NameWhatIsWrong) {
  const auto refuse = [](ErrorCode code, const std::string& message, const auto& spoil) {
    expect_error(code, message, [&] {
      Params params = make_params(64, 4);
      spoil(params);
      const MultiHeadAttention layer(std::move(params));
    });
  };
  refuse(ErrorCode::kInvalidArgument, ": embed_dim 64 is not divisible by num_heads 5",
         [](Params& p) { p.num_heads = 5; });
  refuse(ErrorCode::kInvalidArgument, ": num_heads must be at least 1, got 0",
         [](Params& p) { p.num_heads = 0; });
  refuse(ErrorCode::kShapeMismatch, " key_weight: expected [64, *], got [32, 5]", [](Params& p) {
    p.key_weight = Tensor<float>(Shape{32, 5});
  });
  refuse(ErrorCode::kShapeMismatch, " out_weight: expected [64, 64], got [64, 32]", [](Params& p) {
    p.out_weight = Tensor<float>(Shape{64, 32});
  });
  refuse(ErrorCode::kShapeMismatch, " value_bias: expected [64], got [63]",
         [](Params& p) { p.value_bias = Tensor<float>(Shape{63}); });
  refuse(ErrorCode::kInvalidArgument, ": the value_weight is empty", [](Params& p) {
    p.value_weight = Tensor<float>(Shape{64, 0});
  });
  refuse(ErrorCode::kShapeMismatch, " query_weight: expected [*, *], got [0]",
         [](Params& p) { p.query_weight = {}; });
}

TEST(AttentionParams, NameWhatIsWrongInFusedOnes) {
  const auto make = [](int heads, Shape qkv) {
    return [=] {
      const MultiHeadAttention layer(MultiHeadAttention::FusedParams{
          heads, Tensor<float>(qkv), {}, Tensor<float>(Shape{64, 64}), {}});
    };
  };
  expect_error(ErrorCode::kInvalidArgument, ": embed_dim 64 is not divisible by num_heads 5",
               make(5, {192, 64}));
  expect_error(ErrorCode::kShapeMismatch, " qkv_weight: expected [192, 64], got [64, 64]",
               make(4, {64, 64}));
}

class AttentionCalls : public testing::Test {
 protected:
  void forward(const Shape& query, const Shape& key, const Shape& value, const Shape& out,
               const MultiHeadAttention::Masks& masks = {},
               const MultiHeadAttention::Details& details = {}) {
    Tensor<float> q(query), k(key), v(value), o(out);
    layer_.forward(context_, q.view(), k.view(), v.view(), o.view(), masks, details);
  }

  void refuse(ErrorCode code, const std::string& message, const Shape& query, const Shape& key,
              const Shape& value, const Shape& out) {
    expect_error(code, message, [&] { forward(query, key, value, out); });
  }

  void refuse_masks(const std::string& message, const MultiHeadAttention::Masks& masks,
                    const MultiHeadAttention::Details& details = {},
                    ErrorCode code = ErrorCode::kInvalidArgument) {
    expect_error(code, message, [&] {
      forward({2, 3, 6}, {2, 7, 5}, {2, 7, 4}, {2, 3, 8}, masks, details);
    });
  }

  const MultiHeadAttention layer_{make_params(8, 2)};
  ExecContext context_;
};

TEST_F(AttentionCalls, NameWrongShapes) {
  EXPECT_NO_THROW(forward({2, 3, 6}, {2, 7, 5}, {2, 7, 4}, {2, 3, 8}));
  const ErrorCode code = ErrorCode::kShapeMismatch;
  refuse(code, " query: expected [*, *, 6], got [2, 3, 5]", {2, 3, 5}, {2, 7, 5}, {2, 7, 4},
         {2, 3, 8});
  refuse(code, " query: expected [*, *, 6], got [3, 6]", {3, 6}, {2, 7, 5}, {2, 7, 4}, {2, 3, 8});
  refuse(code, " key: expected [2, 7, 5], got [1, 7, 5]", {2, 3, 6}, {1, 7, 5}, {2, 7, 4},
         {2, 3, 8});
  refuse(code, " key: expected [2, *, 5], got [7, 5]", {2, 3, 6}, {7, 5}, {2, 7, 4}, {2, 3, 8});
  refuse(code, " value: expected [2, 7, 4], got [2, 6, 4]", {2, 3, 6}, {2, 7, 5}, {2, 6, 4},
         {2, 3, 8});
  refuse(code, " output: expected [2, 3, 8], got [2, 3, 7]", {2, 3, 6}, {2, 7, 5}, {2, 7, 4},
         {2, 3, 7});
}

TEST_F(AttentionCalls, RefuseEmptyInputs) {
  const ErrorCode code = ErrorCode::kInvalidArgument;
  refuse(code, ": the query [0, 3, 6] is empty", {0, 3, 6}, {0, 7, 5}, {0, 7, 4}, {0, 3, 8});
  refuse(code, ": the query [2, 0, 6] is empty", {2, 0, 6}, {2, 7, 5}, {2, 7, 4}, {2, 0, 8});
  refuse(code, ": the key [2, 0, 5] is empty", {2, 3, 6}, {2, 0, 5}, {2, 0, 4}, {2, 3, 8});
  const TensorView<const float> none;
  const TensorView<float> out;
  EXPECT_THROW(layer_.forward(context_, none, none, none, out), Error);
}

TEST_F(AttentionCalls, RefuseMasksOutOfRange) {
  const std::vector<std::int64_t> three{7, 7, 7}, negative{7, -1}, long_one{8, 7};
  refuse_masks(": key_lengths has 3 entries for a batch of 2", {three, {}});
  refuse_masks(": a key length of -1 is outside of 0 to 7", {negative, {}});
  refuse_masks(": a key length of 8 is outside of 0 to 7", {long_one, {}});
  refuse_masks(": the band's width -1 is outside of 0 to 2147483648", {{}, BandMask{1, 0, -1}});
  refuse_masks(": the band's stride -2 is outside of 0 to 2147483648", {{}, BandMask{-2, 0, 1}});
  constexpr std::int64_t kLeast = std::numeric_limits<std::int64_t>::min();
  refuse_masks(": the band's offset -9223372036854775808 is outside of -2147483648 to 2147483648",
               {{}, BandMask{1, kLeast, 1}});
  // The largest legal numbers neither overflow nor cost anything.
  constexpr std::int64_t kMost = std::int64_t{1} << 31;
  EXPECT_NO_THROW(
      forward({2, 3, 6}, {2, 7, 5}, {2, 7, 4}, {2, 3, 8}, {{}, BandMask{kMost, -kMost, kMost}}));
}

TEST_F(AttentionCalls, RefuseDetailsOfTheWrongShape) {
  Tensor<float> weights(Shape{2, 2, 3, 6});
  Tensor<float> lags(Shape{2, 2, 3, 3});
  refuse_masks(" weights: expected [2, 2, 3, 7], got [2, 2, 3, 6]", {},
               {.weights = weights.view(), .band_weights = {}, .band_logits = {}},
               ErrorCode::kShapeMismatch);
  refuse_masks(": band_weights needs a band mask", {},
               {.weights = {}, .band_weights = lags.view(), .band_logits = {}});
  refuse_masks(" band_logits: expected [2, 2, 3, 5], got [2, 2, 3, 3]", {{}, BandMask{1, 0, 2}},
               {.weights = {}, .band_weights = {}, .band_logits = lags.view()},
               ErrorCode::kShapeMismatch);
}

TEST_F(AttentionCalls, SelfAttentionNeedsOneWidth) {
  Tensor<float> x(Shape{2, 3, 6});
  Tensor<float> out(Shape{2, 3, 8});
  expect_error(ErrorCode::kShapeMismatch, " key: expected [2, 3, 5], got [2, 3, 6]",
               [&] { layer_.forward(context_, x.view(), out.view()); });
}

}  // namespace
}  // namespace av_fusion
