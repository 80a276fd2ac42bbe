// Copyright 2026 The av_fusion authors. SPDX-License-Identifier: Apache-2.0
#include "av_fusion/nn/layer_norm.h"

#include <gtest/gtest.h>

#include "av_fusion/core/error.h"
#include "tests/nn/reference.h"

namespace av_fusion {
namespace {

class LayerNormSizes : public testing::TestWithParam<std::pair<std::int64_t, std::int64_t>> {};

TEST_P(LayerNormSizes, AgreesWithPlainLoopsAlsoInPlace) {
  const auto [rows, dim] = GetParam();
  const Tensor<float> scale = reference::random({dim}, 1);
  const Tensor<float> shift = reference::random({dim}, 2);
  const LayerNorm layer({scale.clone(), shift.clone(), 1e-5f});
  Tensor<float> in = reference::random({rows, dim}, 3, 4.0f);
  for (float& x : in.elements()) x += 3.0f;
  const std::vector<double> expected = reference::layer_norm(in, scale, shift, 1e-5);
  Tensor<float> out(in.shape());
  ExecContext context;
  layer.forward(context, in.view(), out.view());
  reference::expect_close(out, expected, 1e-5, "out");
  layer.forward(context, in.view(), in.view());
  reference::expect_close(in, expected, 1e-5, "in place");
}

INSTANTIATE_TEST_SUITE_P(Odd, LayerNormSizes,
                         testing::Values(std::pair{1, 1}, std::pair{1, 128}, std::pair{25, 64},
                                         std::pair{101, 7}, std::pair{3, 257}));

TEST(LayerNorm, EqualNumbersGiveTheShift) {
  const LayerNorm layer({reference::random({5}, 1), reference::random({5}, 2)});
  Tensor<float> x(Shape{1, 5});
  std::fill(x.elements().begin(), x.elements().end(), 7.0f);
  ExecContext context;
  layer.forward(context, x.view(), x.view());
  reference::expect_close(x, reference::to_doubles(reference::random({5}, 2)), 1e-6, "out");
}

TEST(LayerNorm, NoRowsDoNothing) {
  const LayerNorm layer({Tensor<float>(Shape{5}), Tensor<float>(Shape{5})});
  Tensor<float> x(Shape{0, 5});
  ExecContext context;
  layer.forward(context, x.view(), x.view());
  EXPECT_EQ(context.num_plans(), 0u);
}

TEST(LayerNorm, RefusesWrongShapes) {
  EXPECT_THROW(LayerNorm({{}, {}}), Error);
  EXPECT_THROW(LayerNorm({Tensor<float>(Shape{5}), Tensor<float>(Shape{4})}), Error);
  EXPECT_THROW(LayerNorm({Tensor<float>(Shape{5}), Tensor<float>(Shape{5}), 0.0f}), Error);
  const LayerNorm layer({Tensor<float>(Shape{5}), Tensor<float>(Shape{5})});
  ExecContext context;
  Tensor<float> x(Shape{2, 6});
  try {
    layer.forward(context, x.view(), x.view());
    FAIL() << "a wrong width was accepted";
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(), "layer_norm input: expected [*, 5], got [2, 6]");
  }
}

}  // namespace
}  // namespace av_fusion
