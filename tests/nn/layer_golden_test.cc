// Copyright 2026 The av_fusion authors. SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "av_fusion/nn/conv1d.h"
#include "av_fusion/nn/conv2d.h"
#include "av_fusion/nn/layer_norm.h"
#include "av_fusion/nn/linear.h"
#include "tests/nn/golden_file.h"
#include "tests/nn/reference.h"

// The layers of make_golden.py, computed by PyTorch.
namespace av_fusion {
namespace {

template <typename Layer>
void expect_golden(const GoldenFile& golden, const std::string& name, const Layer& layer) {
  const Tensor<float> in = golden.get(name + ".in");
  Tensor<float> out(golden.get(name + ".out").shape());
  ExecContext context;
  layer.forward(context, in.view(), out.view());
  reference::expect_close(out, golden.doubles(name + ".out"), 1e-5, name.c_str());
}

TEST(LayerGolden, AgreeWithPyTorch) {
  const GoldenFile golden("layers.golden");
  expect_golden(golden, "conv1d",
                Conv1d({.weight = golden.get("conv1d.weight"),
                        .bias = golden.get("conv1d.bias"),
                        .stride = 2,
                        .dilation = 3,
                        .padding = 6}));
  expect_golden(golden, "conv2d",
                Conv2d({.weight = golden.get("conv2d.weight"),
                        .bias = golden.get("conv2d.bias"),
                        .stride = 2,
                        .padding = 1,
                        .activation = Activation::kRelu}));
  expect_golden(golden, "layer_norm",
                LayerNorm({golden.get("layer_norm.weight"), golden.get("layer_norm.bias")}));
  expect_golden(golden, "linear_gelu",
                Linear({golden.get("linear_gelu.weight"), golden.get("linear_gelu.bias"),
                        Activation::kGelu}));
}

}  // namespace
}  // namespace av_fusion
