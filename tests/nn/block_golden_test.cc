// Copyright 2026 The av_fusion authors. SPDX-License-Identifier: Apache-2.0
//
// The modules of blocks.py, loaded by name and run against PyTorch: make_block_golden.py wrote the
// files.
#include <gtest/gtest.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "av_fusion/nn/load_blocks.h"
#include "av_fusion/nn/weights_file.h"
#include "tests/nn/block_reference.h"

namespace av_fusion {
namespace {

using reference::message_of;

WeightsFile golden(const std::string& name) {
  return WeightsFile::open(std::string(AV_FUSION_TEST_DATA_DIR) + "/" + name + ".safetensors");
}

struct EncoderCase {
  std::string name;
  ConvTransformerEncoderOptions options;
  std::vector<std::int64_t> lengths;
};

class EncoderGolden : public testing::TestWithParam<EncoderCase> {};

TEST_P(EncoderGolden, Agrees) {
  const WeightsFile file = golden(GetParam().name);
  const StateDict weights = StateDict(file).sub("model.");
  const ConvTransformerEncoder encoder(load_conv_transformer_encoder(weights, GetParam().options));
  weights.expect_all_taken();
  Tensor<float> x = file.tensor("in");
  ExecContext context;
  encoder.forward(context, x.view(), GetParam().lengths);
  const Tensor<float> out = file.tensor("out");
  for (std::int64_t b = 0; b < x.dim(0); ++b) {
    const std::int64_t length =
        GetParam().lengths.empty() ? x.dim(1) : GetParam().lengths[static_cast<std::size_t>(b)];
    reference::expect_close(reference::sequence_of(x, b, length),
                            reference::to_doubles(reference::sequence_of(out, b, length)), 1e-5,
                            "valid steps");
  }
}

std::vector<EncoderCase> encoder_cases() {
  std::vector<EncoderCase> cases(2);
  cases[0].name = "encoder";
  cases[0].options.dilations = {1, 3};
  cases[0].options.num_heads = 2;
  cases[0].options.attention_width = 4;
  cases[0].lengths = {29, 17};
  cases[1].name = "encoder_whole";
  cases[1].options.num_heads = 3;
  return cases;
}

INSTANTIATE_TEST_SUITE_P(PyTorch, EncoderGolden, testing::ValuesIn(encoder_cases()),
                         [](const auto& test) { return test.param.name; });

struct FusionCase {
  std::string name;
  std::int64_t num_layers = 1;
  std::vector<std::int64_t> audio_lengths{};
  std::optional<BandMask> band{};
};

class FusionGolden : public testing::TestWithParam<FusionCase> {};

TEST_P(FusionGolden, FusedAndWeightsOfEachLayerAgree) {
  const WeightsFile file = golden(GetParam().name);
  const StateDict weights = StateDict(file).sub("model.");
  const CrossAttentionFusion fusion(load_cross_attention_fusion(weights, 4));
  weights.expect_all_taken();
  ASSERT_EQ(fusion.num_layers(), GetParam().num_layers);

  const Tensor<float> expected = file.tensor("fused");
  Tensor<float> fused(expected.shape());
  std::vector<Tensor<float>> attention;
  std::vector<MultiHeadAttention::Details> details;
  for (std::int64_t i = 0; i < fusion.num_layers(); ++i) {
    attention.emplace_back(file.shape("weights." + std::to_string(i)));
    details.push_back({.weights = attention.back().view()});
  }
  MultiHeadAttention::Masks masks;
  masks.key_lengths = GetParam().audio_lengths;
  masks.band = GetParam().band;
  const Tensor<float> video = file.tensor("video");
  const Tensor<float> audio = file.tensor("audio");
  ExecContext context;
  fusion.forward(context, video.view(), audio.view(), fused.view(), masks, details);
  reference::expect_close(fused, reference::to_doubles(expected), 1e-5, "fused");
  for (std::size_t i = 0; i < attention.size(); ++i) {
    const std::string name = "weights." + std::to_string(i);
    reference::expect_close(attention[i], reference::to_doubles(file.tensor(name)), 1e-5,
                            name.c_str());
  }
}

INSTANTIATE_TEST_SUITE_P(PyTorch, FusionGolden,
                         testing::Values(FusionCase{"fusion_3_layers", 3, {30, 13}},
                                         FusionCase{"fusion_band", 1, {30, 22}, BandMask{3, 2, 5}}),
                         [](const auto& test) { return test.param.name; });

TEST(LoadBlocks, NamesTheFileAndTheTensor) {
  const WeightsFile file = golden("encoder");
  const StateDict weights(file);
  const std::string missing = file.name() + ": there is no tensor \"";
  EXPECT_EQ(message_of(ErrorCode::kNotFound,
                       [&] {
                         load_conv_transformer_encoder(weights.sub("model."),
                                                       {.dilations = {1, 1, 1}, .num_heads = 2});
                       }),
            missing + "model.blocks.2.norm.weight\"");
  EXPECT_EQ(message_of(ErrorCode::kNotFound, [&] { load_feed_forward(weights.sub("model.")); }),
            missing + "model.norm.weight\"");
  const std::string text =
      message_of(ErrorCode::kNotFound, [&] { load_cross_attention_fusion(weights, 4); });
  EXPECT_NE(text.find("layers.0.attention."), std::string::npos) << text;
}

TEST(LoadBlocks, LeavesWhatItDoesNotKnow) {
  const WeightsFile file = golden("encoder");
  const StateDict weights = StateDict(file).sub("model.");
  load_conv_transformer_encoder(weights, {.dilations = {1}, .num_heads = 2});
  const std::string text = message_of(ErrorCode::kCorruptData, [&] { weights.expect_all_taken(); });
  EXPECT_NE(text.find("model.blocks.1.conv.bias"), std::string::npos) << text;
}

}  // namespace
}  // namespace av_fusion
