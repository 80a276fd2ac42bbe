// Copyright 2026 The av_fusion authors. SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "av_fusion/nn/conv_block.h"
#include "av_fusion/nn/conv_transformer_encoder.h"
#include "av_fusion/nn/feed_forward.h"
#include "tests/nn/block_reference.h"

namespace av_fusion {
namespace {

using reference::message_of;

// ---- FeedForward ----

TEST(FeedForward, AgreesWithPlainLoops) {
  ExecContext context;
  for (const auto& [rows, dim, hidden] :
       {std::array<std::int64_t, 3>{1, 1, 1}, {7, 16, 40}, {33, 30, 8}, {130, 12, 64}}) {
    SCOPED_TRACE(Shape({rows, dim, hidden}).to_string());
    const FeedForward block(reference::feed_forward_params(dim, hidden, 1));
    EXPECT_EQ(block.dim(), dim);
    Tensor<float> x = reference::random({rows, dim}, 2, 2.0f);
    const Tensor<float> expected =
        reference::feed_forward(reference::feed_forward_params(dim, hidden, 1), x);
    block.forward(context, x.view());
    reference::expect_close(x, reference::to_doubles(expected), 1e-5, "x");
  }
}

TEST(FeedForward, NothingInNothingDone) {
  const FeedForward block(reference::feed_forward_params(8, 16, 1));
  ExecContext context;
  EXPECT_NO_THROW(block.forward(context, {nullptr, {0, 8}}));
}

TEST(FeedForward, NamesWhatIsWrong) {
  const auto message_with = [](ErrorCode code, const auto& change) {
    return message_of(code, [&] {
      FeedForward::Params params = reference::feed_forward_params(8, 16, 1);
      change(params);
      FeedForward block(std::move(params));
    });
  };
  EXPECT_EQ(message_with(ErrorCode::kShapeMismatch,
                         [](auto& p) { p.up = reference::linear_params(16, 9, 1); }),
            "feed_forward up weight: expected [*, 8], got [16, 9]");
  EXPECT_EQ(message_with(ErrorCode::kShapeMismatch,
                         [](auto& p) { p.down = reference::linear_params(8, 15, 1); }),
            "feed_forward down weight: expected [8, 16], got [8, 15]");
  EXPECT_EQ(message_with(ErrorCode::kInvalidArgument,
                         [](auto& p) { p.up.activation = Activation::kRelu; }),
            "feed_forward up: the block has its own activation; leave it at kNone");
  EXPECT_EQ(message_with(ErrorCode::kInvalidArgument,
                         [](auto& p) { p.down.activation = Activation::kGelu; }),
            "feed_forward down: the block has its own activation; leave it at kNone");
  EXPECT_EQ(message_with(ErrorCode::kShapeMismatch,
                         [](auto& p) {
                           p.norm.scale = Tensor<float>(Shape{2, 4});
                         }),
            "feed_forward norm scale: expected [*], got [2, 4]");

  const FeedForward block(reference::feed_forward_params(8, 16, 1));
  ExecContext context;
  Tensor<float> wrong(Shape{3, 9});
  EXPECT_EQ(message_of(ErrorCode::kShapeMismatch, [&] { block.forward(context, wrong.view()); }),
            "feed_forward input: expected [*, 8], got [3, 9]");
  const TensorView<float> strided(wrong.data(), {2, 8}, {9, 1});
  EXPECT_EQ(message_of(ErrorCode::kInvalidArgument, [&] { block.forward(context, strided); }),
            "feed_forward input: the view is not dense");
}

// ---- ConvBlock ----

struct ConvCase {
  Shape shape;  // [B, T, D]
  reference::ConvShape conv;
  std::vector<std::int64_t> lengths{};
};

TEST(ConvBlock, AgreesWithPlainLoops) {
  const std::vector<ConvCase> cases = {
      {{1, 1, 4}, {.channels = 4, .kernel = 1, .dilation = 1}},
      {{1, 40, 16}, {.channels = 16, .kernel = 5, .dilation = 1}},
      {{2, 33, 12}, {.channels = 20, .kernel = 3, .dilation = 4}},
      {{1, 3, 8}, {.channels = 6, .kernel = 7, .dilation = 2}},  // shorter than its kernel
      {{2, 33, 12}, {.channels = 12, .kernel = 5, .dilation = 2}, {33, 20}},
      {{3, 9, 10}, {.channels = 10, .kernel = 3, .dilation = 1}, {1, 0, 9}},
  };
  ExecContext context;
  for (const ConvCase& test : cases) {
    const std::int64_t dim = test.shape[2];
    SCOPED_TRACE(test.shape.to_string() + " dilation " + std::to_string(test.conv.dilation));
    const ConvBlock block(reference::conv_block_params(dim, test.conv, 5));
    EXPECT_EQ(block.dim(), dim);
    const Tensor<float> in = reference::random(test.shape, 3);
    Tensor<float> x = in.clone();
    block.forward(context, x.view(), test.lengths);
    reference::expect_each_alone(x, in, test.lengths, [&](const Tensor<float>& alone) {
      return reference::conv_block(reference::conv_block_params(dim, test.conv, 5), alone);
    });
  }
}

TEST(ConvBlock, NothingInNothingDone) {
  const ConvBlock block(reference::conv_block_params(8, {8, 3, 1}, 1));
  ExecContext context;
  EXPECT_NO_THROW(block.forward(context, {nullptr, {0, 5, 8}}));
  EXPECT_NO_THROW(block.forward(context, {nullptr, {2, 0, 8}}));
}

TEST(ConvBlock, NamesWhatIsWrong) {
  const auto message_with = [](ErrorCode code, const auto& change) {
    return message_of(code, [&] {
      ConvBlock::Params params = reference::conv_block_params(8, {10, 5, 2}, 1);
      change(params);
      ConvBlock block(std::move(params));
    });
  };
  EXPECT_EQ(message_with(ErrorCode::kInvalidArgument,
                         [](auto& p) {
                           p.conv.weight = reference::random({10, 8, 4}, 1);
                         }),
            "conv_block: a kernel of 4 cannot keep the length; it must be odd");
  EXPECT_EQ(message_with(ErrorCode::kInvalidArgument, [](auto& p) { p.conv.stride = 2; }),
            "conv_block: the stride must be 1, got 2");
  EXPECT_EQ(message_with(ErrorCode::kInvalidArgument, [](auto& p) { p.conv.padding = 2; }),
            "conv_block: a padding of 2 does not keep the length; 4 does");
  EXPECT_EQ(message_with(ErrorCode::kInvalidArgument, [](auto& p) { p.conv.dilation = 0; }),
            "conv_block: a dilation of 0 is out of range");
  EXPECT_EQ(
      message_with(ErrorCode::kInvalidArgument, [](auto& p) { p.conv.dilation = 2147483647; }),
      "conv_block: a dilation of 2147483647 is out of range");
  EXPECT_EQ(message_with(ErrorCode::kShapeMismatch,
                         [](auto& p) {
                           p.conv.weight = reference::random({10, 9, 5}, 1);
                         }),
            "conv_block conv weight: expected [*, 8, *], got [10, 9, 5]");
  EXPECT_EQ(message_with(ErrorCode::kShapeMismatch,
                         [](auto& p) { p.linear = reference::linear_params(8, 8, 1); }),
            "conv_block linear weight: expected [8, 10], got [8, 8]");
  EXPECT_EQ(message_with(ErrorCode::kInvalidArgument,
                         [](auto& p) { p.conv.activation = Activation::kRelu; }),
            "conv_block conv: the block has its own activation; leave it at kNone");

  const ConvBlock block(reference::conv_block_params(8, {8, 3, 1}, 1));
  ExecContext context;
  Tensor<float> wrong(Shape{2, 3, 9});
  Tensor<float> x(Shape{2, 3, 8});
  EXPECT_EQ(message_of(ErrorCode::kShapeMismatch, [&] { block.forward(context, wrong.view()); }),
            "conv_block input: expected [*, *, 8], got [2, 3, 9]");
  const std::int64_t one[] = {3};
  EXPECT_EQ(message_of(ErrorCode::kInvalidArgument, [&] { block.forward(context, x.view(), one); }),
            "conv_block: lengths has 1 entries for a batch of 2");
  const std::int64_t too_long[] = {3, 4};
  EXPECT_EQ(
      message_of(ErrorCode::kInvalidArgument, [&] { block.forward(context, x.view(), too_long); }),
      "conv_block: a length of 4 is outside of 0 to 3");
}

// ---- ConvTransformerEncoder ----

struct EncoderCase {
  Shape shape;  // [B, T, D]
  int num_heads = 1;
  std::vector<reference::ConvShape> convs{};
  std::optional<std::int64_t> width{};
  std::vector<std::int64_t> lengths{};

  ConvTransformerEncoder::Params params() const {
    const std::int64_t dim = shape[2];
    ConvTransformerEncoder::Params result{
        .attention_norm = reference::norm_params(dim, 100),
        .attention = reference::attention_params(dim, dim, num_heads, 110),
        .attention_width = width,
        .feed_forward = reference::feed_forward_params(dim, 2 * dim, 120)};
    unsigned seed = 200;
    for (const reference::ConvShape& conv : convs) {
      result.conv_blocks.push_back(reference::conv_block_params(dim, conv, seed += 50));
    }
    return result;
  }
};

TEST(ConvTransformerEncoder, AgreesWithPlainLoopsOnEachSequenceAlone) {
  const std::vector<EncoderCase> cases = {
      {.shape = {1, 1, 4}},
      {.shape = {1, 50, 16}, .num_heads = 4, .convs = {{16, 5, 1}}},
      {.shape = {2, 70, 12}, .num_heads = 3, .convs = {{12, 3, 1}, {20, 3, 4}}, .width = 7},
      {.shape = {1, 20, 8}, .num_heads = 2, .width = 0},
      {.shape = {2, 41, 16}, .num_heads = 2, .convs = {{16, 3, 1}}, .lengths = {41, 12}},
      {.shape = {3, 41, 16},
       .num_heads = 2,
       .convs = {{16, 5, 2}, {16, 3, 3}},
       .width = 5,
       .lengths = {0, 41, 23}},
  };
  ExecContext context;
  for (const EncoderCase& test : cases) {
    SCOPED_TRACE(test.shape.to_string());
    const ConvTransformerEncoder encoder(test.params());
    EXPECT_EQ(encoder.dim(), test.shape[2]);
    const Tensor<float> in = reference::random(test.shape, 3);
    Tensor<float> x = in.clone();
    encoder.forward(context, x.view(), test.lengths);
    reference::expect_each_alone(x, in, test.lengths, [&](const Tensor<float>& alone) {
      return reference::encoder(test.params(), alone.clone());
    });
  }
}

TEST(ConvTransformerEncoder, NamesWhatIsWrong) {
  const EncoderCase good{.shape = {2, 5, 8}, .num_heads = 2, .convs = {{8, 3, 1}, {8, 3, 1}}};
  const auto message_with = [&](ErrorCode code, const auto& change) {
    return message_of(code, [&] {
      ConvTransformerEncoder::Params params = good.params();
      change(params);
      ConvTransformerEncoder encoder(std::move(params));
    });
  };
  EXPECT_EQ(message_with(ErrorCode::kInvalidArgument, [](auto& p) { p.attention_width = -1; }),
            "conv_transformer_encoder: attention_width is negative: -1");
  EXPECT_EQ(message_with(ErrorCode::kShapeMismatch,
                         [](auto& p) {
                           p.conv_blocks[1] = reference::conv_block_params(9, {9, 3, 1}, 1);
                         }),
            "conv_transformer_encoder conv_blocks[1] norm scale: expected [8], got [9]");
  EXPECT_EQ(message_with(ErrorCode::kShapeMismatch,
                         [](auto& p) { p.attention = reference::attention_params(8, 9, 2, 1); }),
            "conv_transformer_encoder attention key_weight: expected [8, 8], got [8, 9]");
  EXPECT_EQ(message_with(ErrorCode::kShapeMismatch,
                         [](auto& p) { p.feed_forward = reference::feed_forward_params(9, 9, 1); }),
            "conv_transformer_encoder feed_forward norm scale: expected [8], got [9]");

  const ConvTransformerEncoder encoder(good.params());
  ExecContext context;
  Tensor<float> wrong(Shape{2, 5, 9});
  EXPECT_EQ(message_of(ErrorCode::kShapeMismatch, [&] { encoder.forward(context, wrong.view()); }),
            "conv_transformer_encoder input: expected [*, *, 8], got [2, 5, 9]");
  EXPECT_EQ(message_of(ErrorCode::kInvalidArgument,
                       [&] {
                         encoder.forward(context, {nullptr, {2, 0, 8}});
                       }),
            "conv_transformer_encoder: the input [2, 0, 8] is empty");
  Tensor<float> x(Shape{2, 5, 8});
  const std::int64_t negative[] = {5, -1};
  EXPECT_EQ(message_of(ErrorCode::kInvalidArgument,
                       [&] { encoder.forward(context, x.view(), negative); }),
            "conv_transformer_encoder: a length of -1 is outside of 0 to 5");
}

}  // namespace
}  // namespace av_fusion
