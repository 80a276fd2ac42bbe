// Copyright 2026 The av_fusion authors. SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "av_fusion/core/error.h"
#include "av_fusion/nn/conv1d.h"
#include "av_fusion/nn/conv2d.h"
#include "tests/nn/reference.h"

namespace av_fusion {
namespace {

struct Case1d {
  std::int64_t batch, length, in, out, kernel;
  int stride, dilation, padding;
  Activation activation;
};

class Conv1dSizes : public testing::TestWithParam<Case1d> {};

TEST_P(Conv1dSizes, AgreesWithPlainLoops) {
  const Case1d c = GetParam();
  const Tensor<float> weight = reference::random_kernel({c.out, c.in, c.kernel}, 1);
  const Tensor<float> bias = reference::random({c.out}, 2);
  const Conv1d layer({.weight = weight.clone(),
                      .bias = bias.clone(),
                      .stride = c.stride,
                      .dilation = c.dilation,
                      .padding = c.padding,
                      .activation = c.activation});
  const Tensor<float> in = reference::random({c.batch, c.length, c.in}, 3);
  Tensor<float> out(Shape{c.batch, layer.out_length(c.length), c.out});
  ExecContext context;
  layer.forward(context, in.view(), out.view());

  Tensor<float> row(Shape{c.batch, 1, c.length, c.in});
  std::copy(in.elements().begin(), in.elements().end(), row.data());
  Tensor<float> flat(Shape{c.out, c.in, 1, c.kernel});
  std::copy(weight.elements().begin(), weight.elements().end(), flat.data());
  reference::expect_close(
      out, reference::conv2d(row, flat, bias, {}, {c.stride, c.dilation, c.padding}, c.activation),
      1e-5, "out");
}

INSTANTIATE_TEST_SUITE_P(Odd, Conv1dSizes,
                         testing::Values(Case1d{1, 1, 1, 1, 1, 1, 1, 0, Activation::kNone},
                                         Case1d{1, 25, 128, 128, 3, 1, 2, 2, Activation::kGelu},
                                         Case1d{2, 101, 80, 64, 5, 2, 1, 2, Activation::kRelu},
                                         Case1d{3, 7, 5, 3, 7, 1, 1, 3, Activation::kNone},
                                         Case1d{1, 13, 3, 17, 3, 3, 4, 4, Activation::kGelu},
                                         Case1d{1, 2, 4, 4, 3, 1, 1, 5, Activation::kNone}));

TEST(Conv1d, LengthsFollowPyTorch) {
  const auto length = [](std::int64_t n, std::int64_t kernel, int stride, int dilation,
                         int padding) {
    return Conv1d({.weight = Tensor<float>(Shape{1, 1, kernel}),
                   .bias = {},
                   .stride = stride,
                   .dilation = dilation,
                   .padding = padding})
        .out_length(n);
  };
  EXPECT_EQ(length(10, 3, 1, 1, 0), 8);
  EXPECT_EQ(length(10, 3, 2, 1, 1), 5);
  EXPECT_EQ(length(10, 3, 1, 4, 4), 10);
  EXPECT_EQ(length(3, 3, 2, 1, 0), 1);
  EXPECT_EQ(length(2, 3, 2, 1, 0), 0);
  EXPECT_EQ(length(0, 3, 1, 1, 0), 0);
}

TEST(Conv1d, AKernelThatDoesNotFitDoesNothing) {
  const Conv1d layer({.weight = reference::random({4, 2, 3}, 1), .bias = {}});
  const Tensor<float> in = reference::random({1, 2, 2}, 2);
  Tensor<float> out(Shape{1, 0, 4});
  ExecContext context;
  layer.forward(context, in.view(), out.view());
  Tensor<float> none(Shape{0, 9, 2});
  Tensor<float> none_out(Shape{0, 7, 4});
  layer.forward(context, none.view(), none_out.view());
  EXPECT_EQ(context.num_plans(), 0u);
}

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

TEST(Conv1d, NamesWhatIsWrong) {
  const auto make = [](Shape weight, Shape bias, int stride, int dilation, int padding) {
    return Conv1d({.weight = Tensor<float>(weight),
                   .bias = Tensor<float>(bias),
                   .stride = stride,
                   .dilation = dilation,
                   .padding = padding});
  };
  EXPECT_EQ(message_of(ErrorCode::kShapeMismatch,
                       [&] {
                         make({4, 2}, {0}, 1, 1, 0);
                       }),
            "conv1d weight: expected [*, *, *], got [4, 2]");
  EXPECT_EQ(message_of(ErrorCode::kInvalidArgument,
                       [&] {
                         make({4, 0, 3}, {0}, 1, 1, 0);
                       }),
            "conv1d: the weight is empty");
  EXPECT_EQ(message_of(ErrorCode::kShapeMismatch,
                       [&] {
                         make({4, 2, 3}, {2}, 1, 1, 0);
                       }),
            "conv1d bias: expected [4], got [2]");
  EXPECT_EQ(message_of(ErrorCode::kInvalidArgument,
                       [&] {
                         make({4, 2, 3}, {0}, 0, 1, 0);
                       }),
            "conv1d: stride must be at least 1, got 0");
  EXPECT_EQ(message_of(ErrorCode::kInvalidArgument,
                       [&] {
                         make({4, 2, 3}, {0}, 1, 0, 0);
                       }),
            "conv1d: dilation must be at least 1, got 0");
  EXPECT_EQ(message_of(ErrorCode::kInvalidArgument,
                       [&] {
                         make({4, 2, 3}, {0}, 1, 1, -1);
                       }),
            "conv1d: padding must be at least 0, got -1");

  const Conv1d layer = make({4, 2, 3}, {0}, 1, 1, 3);
  ExecContext context;
  Tensor<float> in(Shape{1, 9, 2});
  Tensor<float> wrong(Shape{1, 9, 3});
  Tensor<float> empty(Shape{1, 0, 2});
  Tensor<float> out(Shape{1, 13, 4});
  Tensor<float> short_out(Shape{1, 4, 4});
  EXPECT_EQ(message_of(ErrorCode::kShapeMismatch,
                       [&] { layer.forward(context, wrong.view(), out.view()); }),
            "conv1d input: expected [*, *, 2], got [1, 9, 3]");
  EXPECT_EQ(message_of(ErrorCode::kShapeMismatch,
                       [&] { layer.forward(context, in.view(), short_out.view()); }),
            "conv1d output: expected [1, 13, 4], got [1, 4, 4]");
  EXPECT_EQ(message_of(ErrorCode::kInvalidArgument,
                       [&] { layer.forward(context, empty.view(), short_out.view()); }),
            "conv1d: the input [1, 0, 2] has no steps");
}

struct Case2d {
  std::int64_t batch, height, width, in, out, kernel_h, kernel_w;
  int stride, padding;
  Activation activation;
};

class Conv2dSizes : public testing::TestWithParam<Case2d> {};

TEST_P(Conv2dSizes, AgreesWithPlainLoops) {
  const Case2d c = GetParam();
  const Tensor<float> weight = reference::random_kernel({c.out, c.in, c.kernel_h, c.kernel_w}, 1);
  const Tensor<float> bias = reference::random({c.out}, 2);
  const Conv2d layer({.weight = weight.clone(),
                      .bias = bias.clone(),
                      .stride = c.stride,
                      .padding = c.padding,
                      .activation = c.activation});
  const Tensor<float> in = reference::random({c.batch, c.height, c.width, c.in}, 3);
  const Shape size = layer.out_size(c.height, c.width);
  Tensor<float> out(Shape{c.batch, size[0], size[1], c.out});
  ExecContext context;
  layer.forward(context, in.view(), out.view());
  reference::expect_close(out,
                          reference::conv2d(in, weight, bias, {c.stride, 1, c.padding},
                                            {c.stride, 1, c.padding}, c.activation),
                          1e-5, "out");
}

INSTANTIATE_TEST_SUITE_P(Odd, Conv2dSizes,
                         testing::Values(Case2d{1, 1, 1, 1, 1, 1, 1, 1, 0, Activation::kNone},
                                         Case2d{3, 24, 48, 1, 32, 5, 5, 2, 2, Activation::kRelu},
                                         Case2d{2, 12, 24, 32, 64, 3, 3, 2, 1, Activation::kRelu},
                                         Case2d{1, 11, 7, 5, 3, 3, 1, 1, 1, Activation::kGelu},
                                         Case2d{5, 6, 12, 64, 64, 3, 3, 1, 1, Activation::kNone},
                                         Case2d{1, 80, 13, 1, 16, 3, 3, 2, 1, Activation::kRelu}));

TEST(Conv2d, NamesWhatIsWrong) {
  const Conv2d layer({.weight = reference::random({4, 2, 3, 3}, 1), .bias = {}});
  ExecContext context;
  Tensor<float> in(Shape{1, 9, 9, 3});
  Tensor<float> out(Shape{1, 7, 7, 4});
  EXPECT_EQ(
      message_of(ErrorCode::kShapeMismatch, [&] { layer.forward(context, in.view(), out.view()); }),
      "conv2d input: expected [*, *, *, 2], got [1, 9, 9, 3]");
}

}  // namespace
}  // namespace av_fusion
