// Copyright 2026 The av_fusion authors. SPDX-License-Identifier: Apache-2.0
#include "av_fusion/nn/load_layers.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "tests/nn/weights_file_builder.h"

namespace av_fusion {
namespace {

constexpr char kName[] = "some.safetensors";

using Tensors = std::vector<std::pair<std::string, Shape>>;

/// What `load` makes of F32 tensors whose elements count on from 0; expects that it takes all.
template <typename Load>
auto load_all(const Tensors& tensors, Load&& load) {
  const WeightsFile file = WeightsFile::from_bytes(counting_file(tensors), kName);
  const StateDict weights(file);
  auto params = load(weights);
  weights.expect_all_taken();
  return params;
}

MultiHeadAttention::Params load_attention(const Tensors& tensors) {
  return load_all(tensors, [](const StateDict& w) { return load_multi_head_attention(w, 1); });
}

void expect_attention_error(const Tensors& tensors, ErrorCode code,
                            std::vector<std::string> words) {
  words.push_back(kName);
  expect_error([&] { load_attention(tensors); }, code, words);
}

/// Expects the numbers `first`, `first` + 1, ... in this shape.
void expect_counts(const Tensor<float>& tensor, const Shape& shape, float first) {
  EXPECT_EQ(tensor.shape(), shape) << tensor.shape().to_string();
  std::vector<float> expected(tensor.elements().size());
  std::iota(expected.begin(), expected.end(), first);
  EXPECT_TRUE(std::equal(expected.begin(), expected.end(), tensor.elements().begin()))
      << "not from " << first;
}

// The shapes are those of the table in load_layers.h for D = 2.
const Tensors kPacked = {{"in_proj_weight", {6, 2}},
                         {"in_proj_bias", {6}},
                         {"out_proj.weight", {2, 2}},
                         {"out_proj.bias", {2}}};
const Tensors kOtherWidths = {{"q_proj_weight", {2, 2}},   {"k_proj_weight", {2, 3}},
                              {"v_proj_weight", {2, 1}},   {"in_proj_bias", {6}},
                              {"out_proj.weight", {2, 2}}, {"out_proj.bias", {2}}};
const Tensors kPlain = {
    {"qkv.weight", {6, 2}}, {"qkv.bias", {6}}, {"out.weight", {2, 2}}, {"out.bias", {2}}};
const Tensors kSeparate = {
    {"query.weight", {2, 2}}, {"query.bias", {2}}, {"key.weight", {2, 3}}, {"key.bias", {2}},
    {"value.weight", {2, 1}}, {"value.bias", {2}}, {"out.weight", {2, 2}}, {"out.bias", {2}}};

Tensors without(Tensors tensors, const std::string& name) {
  std::erase_if(tensors, [&](const auto& tensor) { return tensor.first == name; });
  return tensors;
}

Tensors with(Tensors tensors, const std::string& name, const Shape& shape) {
  tensors = without(std::move(tensors), name);
  tensors.emplace_back(name, shape);
  return tensors;
}

TEST(LoadLayers, SplitsAPackedProjection) {
  for (const Tensors& tensors : {kPacked, kPlain}) {
    const MultiHeadAttention::Params params = load_attention(tensors);
    EXPECT_EQ(params.num_heads, 1);
    expect_counts(params.query_weight, {2, 2}, 0);
    expect_counts(params.key_weight, {2, 2}, 4);
    expect_counts(params.value_weight, {2, 2}, 8);
    expect_counts(params.query_bias, {2}, 12);
    expect_counts(params.key_bias, {2}, 14);
    expect_counts(params.value_bias, {2}, 16);
    expect_counts(params.out_weight, {2, 2}, 18);
    expect_counts(params.out_bias, {2}, 22);
  }
}

TEST(LoadLayers, ReadsOtherWidthsOfKeyAndValue) {
  const MultiHeadAttention::Params params = load_attention(kOtherWidths);
  expect_counts(params.query_weight, {2, 2}, 0);
  expect_counts(params.key_weight, {2, 3}, 4);
  expect_counts(params.value_weight, {2, 1}, 10);
  expect_counts(params.query_bias, {2}, 12);
  expect_counts(params.key_bias, {2}, 14);
  expect_counts(params.value_bias, {2}, 16);
  expect_counts(params.out_weight, {2, 2}, 18);
  expect_counts(params.out_bias, {2}, 22);
}

TEST(LoadLayers, ReadsSeparateProjections) {
  const MultiHeadAttention::Params params = load_attention(kSeparate);
  expect_counts(params.query_weight, {2, 2}, 0);
  expect_counts(params.query_bias, {2}, 4);
  expect_counts(params.key_weight, {2, 3}, 6);
  expect_counts(params.key_bias, {2}, 12);
  expect_counts(params.value_weight, {2, 1}, 14);
  expect_counts(params.value_bias, {2}, 16);
  expect_counts(params.out_weight, {2, 2}, 18);
  expect_counts(params.out_bias, {2}, 22);
}

TEST(LoadLayers, EveryTensorOfAnAttentionIsEitherOptionalOrMissed) {
  for (const Tensors& tensors : {kPacked, kOtherWidths, kPlain, kSeparate}) {
    for (const auto& [name, shape] : tensors) {
      SCOPED_TRACE(name);
      const Tensors fewer = without(tensors, name);
      if (name.ends_with("bias")) {
        EXPECT_NO_THROW(load_attention(fewer));
      } else {
        expect_attention_error(fewer, ErrorCode::kNotFound, {"\"" + name + "\""});
      }
    }
  }
}

TEST(LoadLayers, RefusesMisshapenAttention) {
  for (const Tensors& tensors : {kPacked, kOtherWidths, kPlain, kSeparate}) {
    for (const auto& [name, shape] : tensors) {
      SCOPED_TRACE(name);
      for (const Shape& wrong : {Shape{}, Shape{5}, Shape{7}, Shape{0}, Shape{2, 5}, Shape{6, 3},
                                 Shape{7, 2}, Shape{0, 2}, Shape{2, 2, 1}}) {
        // Every other width of a query, key or value is right if the layer has its own weights.
        if (wrong.rank() == 2 && wrong[0] == 2 && shape[0] == 2 && name.find("out") != 0 &&
            (name.starts_with("k") || name.starts_with("v") || name == "query.weight")) {
          continue;
        }
        SCOPED_TRACE(wrong.to_string());
        const Tensors wrong_tensors = with(tensors, name, wrong);
        expect_error([&] { load_attention(wrong_tensors); }, ErrorCode::kShapeMismatch,
                     {kName, "expected"});
      }
    }
  }
  expect_attention_error(with(kPacked, "in_proj_weight", {6, 3}), ErrorCode::kShapeMismatch,
                         {"\"in_proj_weight\"", "expected [3 D, D], got [6, 3]"});
  expect_attention_error(with(kPacked, "in_proj_bias", {5}), ErrorCode::kShapeMismatch,
                         {"\"in_proj_bias\"", "expected [3 D] with D = 2, got [5]"});
  expect_attention_error(with(kPlain, "out.weight", {2, 3}), ErrorCode::kShapeMismatch,
                         {"\"out.weight\"", "expected [2, 2], got [2, 3]"});
}

TEST(LoadLayers, SaysWhichAttentionItLookedFor) {
  const Tensors tensors = {{"block.weight", {1}}, {"block.out.weight", {2, 2}}};
  const WeightsFile file = WeightsFile::from_bytes(counting_file(tensors), kName);
  expect_error([&] { load_multi_head_attention(StateDict(file).sub("block."), 1); },
               ErrorCode::kNotFound,
               {kName, "no attention layer", "\"block.in_proj_weight\"", "\"block.q_proj_weight\"",
                "\"block.k_proj_weight\"", "\"block.v_proj_weight\"", "\"block.qkv.weight\"",
                "\"block.query.weight\"", "\"block.key.weight\"", "\"block.value.weight\""});
}

TEST(LoadLayers, RefusesAMixtureOfFormats) {
  const std::vector<Tensors> formats = {kPacked, kOtherWidths, kPlain, kSeparate};
  for (const Tensors& one : formats) {
    for (const Tensors& other : formats) {
      for (const auto& extra : other) {
        const bool shared = std::any_of(one.begin(), one.end(), [&](const auto& tensor) {
          return tensor.first == extra.first;
        });
        if (shared) continue;
        SCOPED_TRACE(one.front().first + " and " + extra.first);
        expect_attention_error(with(one, extra.first, extra.second), ErrorCode::kCorruptData,
                               {"does not go with", "\"" + extra.first + "\""});
      }
    }
  }
  expect_attention_error(with(kPacked, "qkv.bias", {6}), ErrorCode::kCorruptData,
                         {R"(tensor "qkv.bias": does not go with "in_proj_weight")",
                          R"("in_proj_weight", "in_proj_bias", "out_proj.weight")"});
}

TEST(LoadLayers, RefusesAnExtraKey) {
  for (const char* name : {"bias_k", "bias_v"}) {
    expect_attention_error(with(kPacked, name, {1, 1, 2}), ErrorCode::kUnsupported,
                           {"\"" + std::string(name) + "\"", "add_bias_kv"});
  }
}

TEST(LoadLayers, LeavesExtraTensorsToTheCaller) {
  const Tensors tensors = with(kPacked, "scale", {1});
  const WeightsFile file = WeightsFile::from_bytes(counting_file(tensors), kName);
  const StateDict weights(file);
  EXPECT_NO_THROW(load_multi_head_attention(weights, 1));
  expect_error([&] { weights.expect_all_taken(); }, ErrorCode::kCorruptData,
               {kName, "does not know: \"scale\""});
}

TEST(LoadLayers, ARefusedNumberOfHeadsIsTheLayersError) {
  EXPECT_EQ(load_all(kPacked, [](const StateDict& w) { return load_multi_head_attention(w, 5); })
                .num_heads,
            5);
  expect_error(
      [] {
        MultiHeadAttention(
            load_all(kPacked, [](const StateDict& w) { return load_multi_head_attention(w, 5); }));
      },
      ErrorCode::kInvalidArgument, {"not divisible"});
}

TEST(LoadLayers, AnAttentionWithoutWidthIsTheLayersError) {
  const Tensors tensors = {{"in_proj_weight", {0, 0}}, {"out_proj.weight", {0, 0}}};
  EXPECT_THROW(MultiHeadAttention{load_attention(tensors)}, Error);
}

TEST(LoadLayers, ReadsTheOtherLayers) {
  const auto linear = load_all({{"weight", {3, 2}}, {"bias", {3}}}, [](const StateDict& w) {
    return load_linear(w, Activation::kRelu);
  });
  expect_counts(linear.weight, {3, 2}, 0);
  expect_counts(linear.bias, {3}, 6);
  EXPECT_EQ(linear.activation, Activation::kRelu);
  const auto norm = load_all({{"weight", {3}}, {"bias", {3}}}, load_layer_norm);
  expect_counts(norm.scale, {3}, 0);
  expect_counts(norm.shift, {3}, 3);
  EXPECT_EQ(norm.epsilon, 1e-5f);
  const auto conv1d = load_all({{"weight", {3, 2, 5}}, {"bias", {3}}}, [](const StateDict& w) {
    return load_conv1d(w, Activation::kGelu);
  });
  expect_counts(conv1d.weight, {3, 2, 5}, 0);
  expect_counts(conv1d.bias, {3}, 30);
  EXPECT_EQ(conv1d.activation, Activation::kGelu);
  const auto conv2d = load_all({{"weight", {3, 2, 1, 2}}, {"bias", {3}}},
                               [](const StateDict& w) { return load_conv2d(w); });
  expect_counts(conv2d.weight, {3, 2, 1, 2}, 0);
  expect_counts(conv2d.bias, {3}, 12);
  EXPECT_EQ(conv2d.activation, Activation::kNone);
}

TEST(LoadLayers, BiasesAreOptionalExceptThatOfANorm) {
  const auto linear = [](const StateDict& w) { return load_linear(w); };
  const auto conv1d = [](const StateDict& w) { return load_conv1d(w); };
  const auto conv2d = [](const StateDict& w) { return load_conv2d(w); };
  EXPECT_TRUE(load_all({{"weight", {3, 2}}}, linear).bias.empty());
  EXPECT_TRUE(load_all({{"weight", {3, 2, 1}}}, conv1d).bias.empty());
  EXPECT_TRUE(load_all({{"weight", {3, 2, 1, 1}}}, conv2d).bias.empty());
  const Tensors weight = {{"weight", {3}}};
  expect_error([&] { load_all(weight, load_layer_norm); }, ErrorCode::kNotFound,
               {kName, "\"bias\""});
}

TEST(LoadLayers, RefusesMisshapenLayers) {
  const auto linear = [](const StateDict& w) { return load_linear(w); };
  const auto conv1d = [](const StateDict& w) { return load_conv1d(w); };
  const auto conv2d = [](const StateDict& w) { return load_conv2d(w); };
  const auto refuses = [](const Shape& weight, const Shape& bias, const std::string& name,
                          auto&& load) {
    SCOPED_TRACE(weight.to_string());
    const Tensors tensors = {{"weight", weight}, {"bias", bias}};
    expect_error([&] { load_all(tensors, load); }, ErrorCode::kShapeMismatch,
                 {kName, "\"" + name + "\"", "expected"});
  };
  refuses({3}, {3}, "weight", linear);
  refuses({3, 2}, {2}, "bias", linear);
  refuses({3, 2}, {3}, "weight", load_layer_norm);
  refuses({3}, {2}, "bias", load_layer_norm);
  refuses({3, 2}, {3}, "weight", conv1d);
  refuses({3, 2, 1}, {2}, "bias", conv1d);
  refuses({3, 2, 1}, {3}, "weight", conv2d);
  refuses({3, 2, 1, 1}, {2}, "bias", conv2d);
}

}  // namespace
}  // namespace av_fusion
