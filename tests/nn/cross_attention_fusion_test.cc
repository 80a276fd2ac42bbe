// Copyright 2026 The av_fusion authors. SPDX-License-Identifier: Apache-2.0
#include "av_fusion/nn/cross_attention_fusion.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "tests/nn/block_reference.h"

namespace av_fusion {
namespace {

using Details = MultiHeadAttention::Details;
using Masks = MultiHeadAttention::Masks;
using reference::message_of;

struct Case {
  std::string name;
  std::int64_t batch = 1;
  std::int64_t video_steps = 1;
  std::int64_t audio_steps = 1;
  std::int64_t dim = 8;
  std::int64_t audio_width = 8;
  int num_heads = 2;
  int num_layers = 1;
  bool query_norm = true;
  bool key_norm = true;
  std::vector<std::int64_t> lengths{};
  std::optional<BandMask> band{};

  Masks masks() const {
    Masks result;
    result.key_lengths = lengths;
    result.band = band;
    return result;
  }
  Shape video_shape() const { return {batch, video_steps, dim}; }
  Shape audio_shape() const { return {batch, audio_steps, audio_width}; }
  Shape weights_shape() const { return {batch, num_heads, video_steps, audio_steps}; }
  Shape lags_shape() const { return {batch, num_heads, video_steps, band->num_lags()}; }

  CrossAttentionFusion::Params params() const {
    CrossAttentionFusion::Params result;
    for (unsigned i = 0; i < static_cast<unsigned>(num_layers); ++i) {
      const unsigned seed = 1000 * (i + 1);
      CrossAttentionFusion::Layer layer{
          .attention = reference::attention_params(dim, audio_width, num_heads, seed),
          .feed_forward = reference::feed_forward_params(dim, 2 * dim + 3, seed + 100)};
      if (query_norm) layer.query_norm = reference::norm_params(dim, seed + 200);
      if (key_norm) layer.key_norm = reference::norm_params(audio_width, seed + 300);
      result.layers.push_back(std::move(layer));
    }
    return result;
  }
};

class Fusion : public testing::TestWithParam<Case> {
 protected:
  Fusion()
      : video_(reference::random(GetParam().video_shape(), 1)),
        audio_(reference::random(GetParam().audio_shape(), 2)),
        expected_(reference::fusion(GetParam().params(), video_, audio_, GetParam().masks())),
        fusion_(GetParam().params()) {}

  void expect_fused(const Tensor<float>& fused, const char* what) const {
    reference::expect_close(fused, reference::to_doubles(expected_.fused), 1e-5, what);
  }

  Tensor<float> video_;
  Tensor<float> audio_;
  reference::Fusion expected_;
  CrossAttentionFusion fusion_;
  ExecContext context_;
};

TEST_P(Fusion, AgreesWithPlainLoops) {
  EXPECT_EQ(fusion_.dim(), GetParam().dim);
  EXPECT_EQ(fusion_.audio_width(), GetParam().audio_width);
  EXPECT_EQ(fusion_.num_heads(), GetParam().num_heads);
  EXPECT_EQ(fusion_.num_layers(), GetParam().num_layers);
  Tensor<float> fused(GetParam().video_shape());
  fusion_.forward(context_, video_.view(), audio_.view(), fused.view(), GetParam().masks());
  expect_fused(fused, "fused");
}

TEST_P(Fusion, InPlaceAgrees) {
  fusion_.forward(context_, video_.view(), audio_.view(), video_.view(), GetParam().masks());
  expect_fused(video_, "fused in place");
}

TEST_P(Fusion, WeightsOfEachLayerAgree) {
  std::vector<Tensor<float>> weights;
  std::vector<Details> details;
  for (int i = 0; i < GetParam().num_layers; ++i) {
    weights.emplace_back(GetParam().weights_shape());
    details.push_back({.weights = weights.back().view()});
  }
  Tensor<float> fused(GetParam().video_shape());
  fusion_.forward(context_, video_.view(), audio_.view(), fused.view(), GetParam().masks(),
                  details);
  expect_fused(fused, "fused");
  for (std::size_t i = 0; i < weights.size(); ++i) {
    SCOPED_TRACE("layer " + std::to_string(i));
    reference::expect_close(weights[i], expected_.layers[i].weights, 1e-5, "weights");
  }
}

// The first layer tells nothing, the last one everything about its band.
TEST_P(Fusion, BandDetailsOfOneLayerAgree) {
  if (!GetParam().band) return;
  Tensor<float> lags(GetParam().lags_shape());
  Tensor<float> logits(GetParam().lags_shape());
  std::vector<Details> details(static_cast<std::size_t>(GetParam().num_layers));
  details.back() = {.band_weights = lags.view(), .band_logits = logits.view()};
  Tensor<float> fused(GetParam().video_shape());
  fusion_.forward(context_, video_.view(), audio_.view(), fused.view(), GetParam().masks(),
                  details);
  expect_fused(fused, "fused");
  const reference::Attention& last = expected_.layers.back();
  const auto band_of = [&](const std::vector<double>& full) {
    return reference::band_of(full, last.visible, GetParam().weights_shape(), *GetParam().band);
  };
  reference::expect_close(lags, band_of(last.weights), 1e-5, "band weights");
  reference::expect_close(logits, band_of(last.scores), 2e-5, "band logits");
}

INSTANTIATE_TEST_SUITE_P(
    Shapes, Fusion,
    testing::Values(Case{.name = "smallest"},
                    Case{.name = "other_width",
                         .video_steps = 25,
                         .audio_steps = 100,
                         .dim = 16,
                         .audio_width = 20,
                         .num_heads = 4},
                    Case{.name = "three_layers",
                         .batch = 2,
                         .video_steps = 25,
                         .audio_steps = 100,
                         .dim = 16,
                         .audio_width = 12,
                         .num_heads = 4,
                         .num_layers = 3},
                    Case{.name = "lengths",
                         .batch = 2,
                         .video_steps = 11,
                         .audio_steps = 60,
                         .dim = 24,
                         .audio_width = 24,
                         .num_heads = 3,
                         .num_layers = 3,
                         .lengths = {60, 17}},
                    Case{.name = "no_audio_in_one",
                         .batch = 2,
                         .video_steps = 11,
                         .audio_steps = 60,
                         .dim = 16,
                         .audio_width = 10,
                         .num_layers = 3,
                         .lengths = {0, 17}},
                    Case{.name = "band",
                         .batch = 2,
                         .video_steps = 25,
                         .audio_steps = 90,
                         .dim = 16,
                         .audio_width = 12,
                         .num_heads = 4,
                         .num_layers = 3,
                         .band = BandMask{.stride = 4, .offset = -5, .width = 9}},
                    Case{.name = "band_and_lengths",
                         .batch = 2,
                         .video_steps = 70,
                         .audio_steps = 280,
                         .dim = 16,
                         .audio_width = 16,
                         .num_heads = 2,
                         .num_layers = 1,
                         .lengths = {280, 100},
                         .band = BandMask{.stride = 4, .offset = 3, .width = 20}},
                    Case{.name = "no_norms",
                         .batch = 2,
                         .video_steps = 9,
                         .audio_steps = 31,
                         .num_layers = 3,
                         .query_norm = false,
                         .key_norm = false},
                    Case{.name = "no_key_norm",
                         .video_steps = 9,
                         .audio_steps = 31,
                         .audio_width = 6,
                         .num_layers = 3,
                         .key_norm = false}),
    [](const auto& test) { return test.param.name; });

// ---- Errors ----

const Case kGood{.name = "good",
                 .batch = 2,
                 .video_steps = 3,
                 .audio_steps = 5,
                 .dim = 8,
                 .audio_width = 6,
                 .num_heads = 2,
                 .num_layers = 2};

template <typename Change>
std::string message_with(ErrorCode code, const Change& change) {
  return message_of(code, [&] {
    CrossAttentionFusion::Params params = kGood.params();
    change(params.layers);
    CrossAttentionFusion fusion(std::move(params));
  });
}

TEST(CrossAttentionFusion, NamesWhatIsWrongInTheParameters) {
  EXPECT_EQ(message_with(ErrorCode::kInvalidArgument, [](auto& layers) { layers.clear(); }),
            "cross_attention_fusion: there are no layers");
  EXPECT_EQ(message_with(ErrorCode::kShapeMismatch,
                         [](auto& layers) {
                           layers[1].attention = reference::attention_params(8, 7, 2, 1);
                         }),
            "cross_attention_fusion layers[1] attention key_weight: expected [8, 6], got [8, 7]");
  EXPECT_EQ(message_with(ErrorCode::kShapeMismatch,
                         [](auto& layers) {
                           layers[0].attention.query_weight = reference::random_weight(8, 9, 1);
                         }),
            "cross_attention_fusion layers[0] attention query_weight: expected [8, 8], got [8, 9]");
  EXPECT_EQ(message_with(ErrorCode::kInvalidArgument,
                         [](auto& layers) { layers[1].attention.num_heads = 4; }),
            "cross_attention_fusion layers[1] attention: 4 heads, but layers[0] has 2");
  EXPECT_EQ(message_with(ErrorCode::kShapeMismatch,
                         [](auto& layers) { layers[1].query_norm = reference::norm_params(6, 1); }),
            "cross_attention_fusion layers[1] query_norm scale: expected [8], got [6]");
  EXPECT_EQ(message_with(ErrorCode::kShapeMismatch,
                         [](auto& layers) { layers[0].key_norm = reference::norm_params(8, 1); }),
            "cross_attention_fusion layers[0] key_norm scale: expected [6], got [8]");
  EXPECT_EQ(message_with(ErrorCode::kShapeMismatch,
                         [](auto& layers) {
                           layers[1].feed_forward = reference::feed_forward_params(6, 9, 1);
                         }),
            "cross_attention_fusion layers[1] feed_forward norm scale: expected [8], got [6]");
}

class FusionErrors : public testing::Test {
 protected:
  std::string message(ErrorCode code, TensorView<const float> video, TensorView<const float> audio,
                      TensorView<float> fused, std::span<const Details> details = {}) {
    return message_of(code, [&] { fusion_.forward(context_, video, audio, fused, {}, details); });
  }

  CrossAttentionFusion fusion_{kGood.params()};
  Tensor<float> video_ = reference::random(kGood.video_shape(), 1);
  Tensor<float> audio_ = reference::random(kGood.audio_shape(), 2);
  Tensor<float> fused_{kGood.video_shape()};
  ExecContext context_;
};

TEST_F(FusionErrors, NamesWrongWidths) {
  Tensor<float> wrong(Shape{2, 3, 7});
  EXPECT_EQ(message(ErrorCode::kShapeMismatch, wrong.view(), audio_.view(), fused_.view()),
            "cross_attention_fusion video: expected [*, *, 8], got [2, 3, 7]");
  EXPECT_EQ(message(ErrorCode::kShapeMismatch, video_.view(), wrong.view(), fused_.view()),
            "cross_attention_fusion audio: expected [2, *, 6], got [2, 3, 7]");
  EXPECT_EQ(message(ErrorCode::kShapeMismatch, video_.view(), audio_.view(), wrong.view()),
            "cross_attention_fusion fused: expected [2, 3, 8], got [2, 3, 7]");
  const Tensor<float> one(Shape{1, 5, 6});
  EXPECT_EQ(message(ErrorCode::kShapeMismatch, video_.view(), one.view(), fused_.view()),
            "cross_attention_fusion audio: expected [2, *, 6], got [1, 5, 6]");
}

TEST_F(FusionErrors, RefusesEmptySequences) {
  EXPECT_EQ(message(ErrorCode::kInvalidArgument, {nullptr, {2, 0, 8}}, audio_.view(),
                    {nullptr, {2, 0, 8}}),
            "cross_attention_fusion: the video [2, 0, 8] is empty");
  EXPECT_EQ(
      message(ErrorCode::kInvalidArgument, video_.view(), {nullptr, {2, 0, 6}}, fused_.view()),
      "cross_attention_fusion: the audio [2, 0, 6] is empty");
}

TEST_F(FusionErrors, RefusesOverlap) {
  Tensor<float> longer(Shape{2, 4, 8});
  const TensorView<float> begin(longer.data(), kGood.video_shape());
  const TensorView<float> shifted(longer.data() + 8, kGood.video_shape());
  EXPECT_EQ(message(ErrorCode::kInvalidArgument, begin, audio_.view(), shifted),
            "cross_attention_fusion: input and output overlap");
  const TensorView<const float> audio(longer.data(), kGood.audio_shape());
  EXPECT_EQ(message(ErrorCode::kInvalidArgument, video_.view(), audio, begin),
            "cross_attention_fusion: input and output overlap");
}

TEST_F(FusionErrors, WantsDetailsForEachLayer) {
  const std::vector<Details> three(3);
  EXPECT_EQ(
      message(ErrorCode::kInvalidArgument, video_.view(), audio_.view(), fused_.view(), three),
      "cross_attention_fusion: details has 3 entries for 2 layers");
  Tensor<float> wrong(Shape{2, 2, 3, 4});
  std::vector<Details> details(2);
  details[1].weights = wrong.view();
  EXPECT_EQ(
      message(ErrorCode::kShapeMismatch, video_.view(), audio_.view(), fused_.view(), details),
      "multi_head_attention weights: expected [2, 2, 3, 5], got [2, 2, 3, 4]");
}

TEST_F(FusionErrors, RefusesBadMasks) {
  const std::int64_t lengths[] = {5, 6};
  Masks masks;
  masks.key_lengths = lengths;
  EXPECT_EQ(
      message_of(
          ErrorCode::kInvalidArgument,
          [&] { fusion_.forward(context_, video_.view(), audio_.view(), fused_.view(), masks); }),
      "multi_head_attention: a key length of 6 is outside of 0 to 5");
}

}  // namespace
}  // namespace av_fusion
