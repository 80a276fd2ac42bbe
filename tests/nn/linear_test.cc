// Copyright 2026 The av_fusion authors. SPDX-License-Identifier: Apache-2.0
#include "av_fusion/nn/linear.h"

#include <gtest/gtest.h>

#include "av_fusion/core/error.h"
#include "tests/nn/reference.h"

namespace av_fusion {
namespace {

struct Case {
  std::int64_t rows, in, out;
  bool bias;
  Activation activation;
};

class LinearSizes : public testing::TestWithParam<Case> {};

TEST_P(LinearSizes, AgreesWithPlainLoops) {
  const Case c = GetParam();
  const Tensor<float> weight = reference::random_weight(c.out, c.in, 1);
  const Tensor<float> bias = c.bias ? reference::random({c.out}, 2) : Tensor<float>();
  const Linear layer({weight.clone(), bias.clone(), c.activation});
  EXPECT_EQ(layer.in_features(), c.in);
  EXPECT_EQ(layer.out_features(), c.out);
  const Tensor<float> in = reference::random({c.rows, c.in}, 3);
  Tensor<float> out(Shape{c.rows, c.out});
  ExecContext context;
  layer.forward(context, in.view(), out.view());
  reference::expect_close(
      out, reference::linear(reference::to_doubles(in), weight, bias, c.activation), 1e-5, "out");
}

INSTANTIATE_TEST_SUITE_P(Odd, LinearSizes,
                         testing::Values(Case{1, 1, 1, true, Activation::kNone},
                                         Case{1, 1, 1, false, Activation::kRelu},
                                         Case{1, 64, 64, true, Activation::kGelu},
                                         Case{7, 13, 5, true, Activation::kGelu},
                                         Case{25, 128, 384, true, Activation::kNone},
                                         Case{97, 31, 1, false, Activation::kGelu},
                                         Case{250, 1, 67, true, Activation::kRelu},
                                         Case{401, 65, 129, true, Activation::kNone}));

TEST(Linear, AccumulateAddsToTheOutput) {
  const Tensor<float> weight = reference::random_weight(17, 9, 1);
  const Linear layer({weight.clone(), reference::random({17}, 2)});
  const Tensor<float> in = reference::random({11, 9}, 3);
  const Tensor<float> before = reference::random({11, 17}, 4);
  Tensor<float> out = before.clone();
  ExecContext context;
  layer.forward(context, in.view(), out.view(), /*accumulate=*/true);
  std::vector<double> expected =
      reference::linear(reference::to_doubles(in), weight, reference::random({17}, 2));
  for (std::size_t i = 0; i < expected.size(); ++i) {
    expected[i] += static_cast<double>(before.elements()[i]);
  }
  reference::expect_close(out, expected, 1e-5, "out");
  layer.forward(context, in.view(), out.view());  // the plan without the sum is another one
  for (std::size_t i = 0; i < expected.size(); ++i) {
    expected[i] -= static_cast<double>(before.elements()[i]);
  }
  reference::expect_close(out, expected, 1e-5, "out");
}

TEST(Linear, NoRowsDoNothing) {
  const Linear layer({reference::random_weight(4, 3, 1), {}});
  ExecContext context;
  Tensor<float> in(Shape{0, 3});
  Tensor<float> out(Shape{0, 4});
  layer.forward(context, in.view(), out.view());
  EXPECT_EQ(context.num_plans(), 0u);
}

TEST(Linear, AMovedLayerWorks) {
  const Tensor<float> weight = reference::random_weight(4, 3, 1);
  Linear first({weight.clone(), {}});
  const Tensor<float> in = reference::random({2, 3}, 3);
  Tensor<float> out(Shape{2, 4});
  ExecContext context;
  first.forward(context, in.view(), out.view());
  const Linear second = std::move(first);
  std::fill(out.elements().begin(), out.elements().end(), 0.0f);
  second.forward(context, in.view(), out.view());
  reference::expect_close(out, reference::linear(reference::to_doubles(in), weight, {}), 1e-5,
                          "out");
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

TEST(Linear, NamesWhatIsWrong) {
  EXPECT_EQ(message_of(ErrorCode::kInvalidArgument,
                       [] {
                         Linear({{}, {}});
                       }),
            "linear: the weight is empty");
  EXPECT_EQ(message_of(ErrorCode::kShapeMismatch,
                       [] {
                         Linear({Tensor<float>(Shape{4, 3, 1}), {}});
                       }),
            "linear weight: expected [*, *], got [4, 3, 1]");
  EXPECT_EQ(message_of(ErrorCode::kShapeMismatch,
                       [] {
                         Linear({Tensor<float>(Shape{4, 3}), Tensor<float>(Shape{3})});
                       }),
            "linear bias: expected [4], got [3]");

  const Linear layer({reference::random_weight(4, 3, 1), {}, Activation::kRelu});
  ExecContext context;
  Tensor<float> in(Shape{2, 3});
  Tensor<float> out(Shape{2, 4});
  Tensor<float> wrong(Shape{2, 5});
  EXPECT_EQ(message_of(ErrorCode::kShapeMismatch,
                       [&] { layer.forward(context, wrong.view(), out.view()); }),
            "linear input: expected [*, 3], got [2, 5]");
  EXPECT_EQ(message_of(ErrorCode::kShapeMismatch,
                       [&] { layer.forward(context, in.view(), wrong.view()); }),
            "linear output: expected [2, 4], got [2, 5]");
  EXPECT_EQ(message_of(ErrorCode::kInvalidArgument,
                       [&] { layer.forward(context, in.view(), out.view(), true); }),
            "linear: accumulate needs a layer without activation");
  const TensorView<const float> strided(in.data(), {2, 3}, {1, 2});
  EXPECT_EQ(
      message_of(ErrorCode::kInvalidArgument, [&] { layer.forward(context, strided, out.view()); }),
      "linear input: the view is not dense");
  const TensorView<const float> nothing(nullptr, {2, 3});
  EXPECT_EQ(
      message_of(ErrorCode::kInvalidArgument, [&] { layer.forward(context, nothing, out.view()); }),
      "linear input: the view has no memory");
  const TensorView<float> over_input(in.data(), {1, 4});
  EXPECT_EQ(message_of(ErrorCode::kInvalidArgument,
                       [&] { layer.forward(context, in.view().slice(0, 1), over_input); }),
            "linear: input and output overlap");
}

}  // namespace
}  // namespace av_fusion
