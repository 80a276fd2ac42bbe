// Copyright 2026 The av_fusion authors. SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "av_fusion/core/error.h"
#include "av_fusion/nn/load_layers.h"
#include "tests/nn/reference.h"

// Files that PyTorch wrote, and what PyTorch computed with them (make_state_dicts.py).
namespace av_fusion {
namespace {

constexpr double kTolerance = 1e-5;
constexpr int kNumHeads = 3;

WeightsFile open(const std::string& name) {
  return WeightsFile::open(AV_FUSION_TEST_DATA_DIR "/" + name + ".safetensors");
}

class AttentionFile : public testing::TestWithParam<const char*> {};

TEST_P(AttentionFile, ComputesWhatPyTorchComputed) {
  const WeightsFile file = open(std::string("attention_") + GetParam());
  const StateDict weights(file);
  const StateDict part = weights.sub("attention.");
  const MultiHeadAttention attention(load_multi_head_attention(part, kNumHeads));
  EXPECT_NO_THROW(part.expect_all_taken());
  EXPECT_THROW(weights.expect_all_taken(), Error);  // the inputs

  const Tensor<float> query = file.tensor("query");
  const Tensor<float> key = file.tensor("key");
  const Tensor<float> value = file.tensor("value");
  Tensor<float> out(query.shape());
  ExecContext context;
  attention.forward(context, query.view(), key.view(), value.view(), out.view());
  reference::expect_close(out, reference::to_doubles(file.tensor("out")), kTolerance, GetParam());
}

INSTANTIATE_TEST_SUITE_P(PyTorch, AttentionFile,
                         testing::Values("packed", "packed_no_bias", "packed_f16", "kdim_vdim",
                                         "kdim_vdim_no_bias", "plain", "plain_bf16", "separate"),
                         [](const auto& test) { return std::string(test.param); });

TEST(LayersFile, ComputesWhatPyTorchComputed) {
  const WeightsFile file = open("layers");
  const StateDict weights(file);
  ExecContext context;
  const auto check = [&](const auto& layer, const std::string& name) {
    const Tensor<float> in = weights.take(name + "_in", file.shape(name + "_in"));
    const Tensor<float> expected = weights.take(name + "_out", file.shape(name + "_out"));
    Tensor<float> out(expected.shape());
    layer.forward(context, in.view(), out.view());
    reference::expect_close(out, reference::to_doubles(expected), kTolerance, name.c_str());
  };
  check(Linear(load_linear(weights.sub("linear."), Activation::kGelu)), "linear");
  check(Linear(load_linear(weights.sub("linear_no_bias."))), "linear_no_bias");
  check(LayerNorm(load_layer_norm(weights.sub("layer_norm."))), "layer_norm");
  Conv1d::Params conv1d = load_conv1d(weights.sub("conv1d."), Activation::kRelu);
  conv1d.stride = 2;
  conv1d.dilation = 2;
  conv1d.padding = 2;
  check(Conv1d(std::move(conv1d)), "conv1d");
  Conv2d::Params conv2d = load_conv2d(weights.sub("conv2d."));
  conv2d.stride = 2;
  conv2d.padding = 1;
  check(Conv2d(std::move(conv2d)), "conv2d");
  EXPECT_NO_THROW(weights.expect_all_taken());
}

}  // namespace
}  // namespace av_fusion
