// Copyright 2026 The av_fusion authors. SPDX-License-Identifier: Apache-2.0
#include "av_fusion/model/aligner_model.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "tests/nn/weights_file_builder.h"

namespace av_fusion {
namespace {

constexpr char kSmall[] = AV_FUSION_TEST_DATA_DIR "/small_aligner.safetensors";

struct FusionResult {
  Tensor<float> lag_logits;
  Tensor<float> head_weights;
  Tensor<float> speaking;
};

/// A model and inputs of the right shapes.
class AlignerModelTest : public ::testing::Test {
 protected:
  static constexpr std::int64_t kTicks = 75;
  static constexpr std::int64_t kFrames = 4 * kTicks;

  AlignerModelTest() {
    std::mt19937 random(11);
    std::normal_distribution<float> normal;
    for (std::uint8_t& pixel : crops_.elements()) pixel = static_cast<std::uint8_t>(random() % 256);
    for (float& value : lips_.elements()) value = 0.3f + 0.1f * normal(random);
    for (float& value : mel_.elements()) value = -6 + 2 * normal(random);
  }

  Tensor<float> encode_video(TensorView<const std::uint8_t> crops, TensorView<const float> lips) {
    Tensor<float> tokens({crops.dim(0), geometry_.token_dim});
    model_.encode_video(context_, crops, lips, tokens.view());
    return tokens;
  }

  Tensor<float> encode_audio(TensorView<const float> mel) {
    Tensor<float> tokens({mel.dim(0), geometry_.token_dim});
    model_.encode_audio(context_, mel, tokens.view());
    return tokens;
  }

  FusionResult fuse(ExecContext& context, TensorView<const float> video,
                    TensorView<const float> audio, std::int64_t first_key,
                    std::int64_t width) const {
    const std::int64_t lags = 2 * width + 1;
    FusionResult result{Tensor<float>({video.dim(0), lags}),
                        Tensor<float>({video.dim(0), geometry_.num_heads, lags}),
                        Tensor<float>({video.dim(0)})};
    model_.fuse(context, video, audio, first_key, width, result.lag_logits.view(),
                result.head_weights.view(), result.speaking.view());
    return result;
  }

  const AlignerModel model_ = AlignerModel::load(kSmall);
  const AlignerModel::Geometry geometry_ = model_.geometry();
  ExecContext context_;
  Tensor<std::uint8_t> crops_{{kTicks, geometry_.mouth_height, geometry_.mouth_width}};
  Tensor<float> lips_{{kTicks, geometry_.lip_features}};
  Tensor<float> mel_{{kFrames, geometry_.mel_bands}};
};

bool same_row(const Tensor<float>& a, const Tensor<float>& b, std::int64_t row) {
  const std::int64_t width = a.dim(1);
  return std::equal(a.data() + row * width, a.data() + (row + 1) * width, b.data() + row * width);
}

/// Rows `begin` ... `end` of `whole` against all rows of `part`.
float largest_difference(const Tensor<float>& whole, std::int64_t begin, std::int64_t end,
                         const Tensor<float>& part, std::int64_t part_begin) {
  const std::int64_t width = whole.dim(1);
  float largest = 0;
  for (std::int64_t i = 0; i < (end - begin) * width; ++i) {
    largest = std::max(
        largest, std::abs(whole.data()[begin * width + i] - part.data()[part_begin * width + i]));
  }
  return largest;
}

/// The rows that a change of input row `at` changes: exactly those from `at - past` (a token that
/// looks into the future) to `at + future`, and nothing outside.
void expect_reach(const Tensor<float>& before, const Tensor<float>& after, std::int64_t at,
                  std::int64_t past, std::int64_t future) {
  for (std::int64_t row = 0; row < before.dim(0); ++row) {
    const bool inside = row >= at - future && row <= at + past;
    if (!inside) {
      EXPECT_TRUE(same_row(before, after, row)) << "row " << row << " sees row " << at;
    }
  }
  EXPECT_FALSE(same_row(before, after, at - future)) << "the future is not as far as promised";
  EXPECT_FALSE(same_row(before, after, at + past)) << "the past is not as far as promised";
}

TEST_F(AlignerModelTest, ACropReachesAsFarAsTheGeometrySays) {
  const Tensor<float> before = encode_video(crops_.view(), lips_.view());
  constexpr std::int64_t kAt = 37;
  const std::int64_t pixels = geometry_.mouth_height * geometry_.mouth_width;
  for (std::int64_t i = 0; i < pixels; ++i) {
    std::uint8_t& pixel = crops_.data()[kAt * pixels + i];
    pixel = static_cast<std::uint8_t>(255 - pixel);
  }
  expect_reach(before, encode_video(crops_.view(), lips_.view()), kAt, geometry_.video_past,
               geometry_.video_future);
}

TEST_F(AlignerModelTest, LipsReachAlmostAsFarAsCrops) {
  const Tensor<float> before = encode_video(crops_.view(), lips_.view());
  constexpr std::int64_t kAt = 37;
  lips_.view()(kAt, 2) += 10;
  // Lips are not stacked; this configuration stacks one picture on either side.
  expect_reach(before, encode_video(crops_.view(), lips_.view()), kAt, geometry_.video_past - 1,
               geometry_.video_future - 1);
}

TEST_F(AlignerModelTest, AFrameReachesAsFarAsTheGeometrySays) {
  const Tensor<float> before = encode_audio(mel_.view());
  constexpr std::int64_t kAt = 100;
  for (std::int64_t band = 0; band < geometry_.mel_bands; ++band) mel_.view()(kAt, band) += 5;
  expect_reach(before, encode_audio(mel_.view()), kAt, geometry_.audio_past,
               geometry_.audio_future);
}

TEST_F(AlignerModelTest, ChunksWithContextAreTheWhole) {
  const Tensor<float> video = encode_video(crops_.view(), lips_.view());
  for (std::int64_t begin = 0; begin < kTicks; begin += 20) {
    const std::int64_t end = std::min(begin + 20, kTicks);
    const std::int64_t from = std::max<std::int64_t>(begin - geometry_.video_past, 0);
    const std::int64_t to = std::min(end + geometry_.video_future, kTicks);
    const Tensor<float> part =
        encode_video(crops_.view().slice(from, to), lips_.view().slice(from, to));
    EXPECT_LE(largest_difference(video, begin, end, part, begin - from), 1e-5f) << begin;
  }
  const Tensor<float> audio = encode_audio(mel_.view());
  for (std::int64_t begin = 0; begin < kFrames; begin += 77) {
    const std::int64_t end = std::min(begin + 77, kFrames);
    const std::int64_t from = std::max<std::int64_t>(begin - geometry_.audio_past, 0);
    const std::int64_t to = std::min(end + geometry_.audio_future, kFrames);
    const Tensor<float> part = encode_audio(mel_.view().slice(from, to));
    EXPECT_LE(largest_difference(audio, begin, end, part, begin - from), 1e-5f) << begin;
  }
}

TEST_F(AlignerModelTest, FusionOfAPartIsThePartOfTheFusion) {
  const Tensor<float> video = encode_video(crops_.view(), lips_.view());
  const Tensor<float> audio = encode_audio(mel_.view());
  const FusionResult whole = fuse(context_, video.view(), audio.view(), 0, 12);
  // Ticks 30 to 50 hear the frames 30 * 4 - 12 to 49 * 4 + 12.
  const FusionResult part =
      fuse(context_, video.view().slice(30, 50), audio.view().slice(108, 209), 12, 12);
  EXPECT_LE(largest_difference(whole.lag_logits, 30, 50, part.lag_logits, 0), 1e-5f);
  const Shape flat{kTicks, geometry_.num_heads * 25};
  for (std::int64_t i = 0; i < 20 * flat[1]; ++i) {
    ASSERT_NEAR(whole.head_weights.data()[30 * flat[1] + i], part.head_weights.data()[i], 1e-5f);
  }
  for (std::int64_t i = 0; i < 20; ++i) {
    ASSERT_NEAR(whole.speaking.data()[30 + i], part.speaking.data()[i], 1e-5f);
  }
}

TEST_F(AlignerModelTest, HeadWeightsAddUpToOneWhereSoundIsHeard) {
  const Tensor<float> video = encode_video(crops_.view(), lips_.view());
  const Tensor<float> audio = encode_audio(mel_.view().slice(0, 40));
  const FusionResult result = fuse(context_, video.view(), audio.view(), 0, 6);
  for (std::int64_t t = 0; t < kTicks; ++t) {
    for (std::int64_t h = 0; h < geometry_.num_heads; ++h) {
      float sum = 0;
      for (std::int64_t l = 0; l < 13; ++l) sum += result.head_weights.view()(t, h, l);
      EXPECT_NEAR(sum, 4 * t - 6 < 40 ? 1.0f : 0.0f, 1e-5f) << "tick " << t;
    }
  }
}

TEST_F(AlignerModelTest, TwoThreadsShareAModelAndGetTheSameBits) {
  const auto run = [&](std::vector<float>& result) {
    ExecContext context;
    for (int round = 0; round < 3; ++round) {
      Tensor<float> video({kTicks, geometry_.token_dim});
      Tensor<float> audio({kFrames, geometry_.token_dim});
      model_.encode_video(context, crops_.view(), lips_.view(), video.view());
      model_.encode_audio(context, mel_.view(), audio.view());
      const FusionResult fusion = fuse(context, video.view(), audio.view(), 0, 20);
      for (const Tensor<float>* part :
           {&fusion.lag_logits, &fusion.head_weights, &fusion.speaking}) {
        result.insert(result.end(), part->elements().begin(), part->elements().end());
      }
    }
  };
  std::vector<float> results[2];
  std::thread first(run, std::ref(results[0]));
  std::thread second(run, std::ref(results[1]));
  first.join();
  second.join();
  ASSERT_FALSE(results[0].empty());
  EXPECT_EQ(results[0], results[1]);
}

TEST_F(AlignerModelTest, NothingInNothingOut) {
  EXPECT_NO_THROW(encode_video(crops_.view().slice(0, 0), lips_.view().slice(0, 0)));
  EXPECT_NO_THROW(encode_audio(mel_.view().slice(0, 0)));
  const Tensor<float> audio = encode_audio(mel_.view());
  EXPECT_NO_THROW(
      fuse(context_, Tensor<float>({0, geometry_.token_dim}).view(), audio.view(), 0, 5));
}

TEST_F(AlignerModelTest, NoSoundIsSoundThatNobodyHears) {
  const Tensor<float> video = encode_video(crops_.view(), lips_.view());
  const Tensor<float> audio = encode_audio(mel_.view());
  const FusionResult none =
      fuse(context_, video.view(), Tensor<float>({0, geometry_.token_dim}).view(), 0, 5);
  const FusionResult far = fuse(context_, video.view(), audio.view(), 1 << 20, 5);
  for (const FusionResult* result : {&none, &far}) {
    for (const float logit : result->lag_logits.elements()) ASSERT_EQ(logit, 0);
    for (const float weight : result->head_weights.elements()) ASSERT_EQ(weight, 0);
  }
  for (std::int64_t t = 0; t < kTicks; ++t) {
    ASSERT_NEAR(none.speaking.data()[t], far.speaking.data()[t], 1e-6f);
  }
}

TEST_F(AlignerModelTest, NamesTheInputThatDoesNotFit) {
  Tensor<float> tokens({kTicks, geometry_.token_dim});
  expect_error(
      [&] {
        model_.encode_video(context_, Tensor<std::uint8_t>({kTicks, 32, 47}).view(), lips_.view(),
                            tokens.view());
      },
      ErrorCode::kShapeMismatch, {"mouth crops", "[*, 32, 48]", "[75, 32, 47]"});
  expect_error(
      [&] {
        model_.encode_video(context_, crops_.view(), lips_.view().slice(1, kTicks), tokens.view());
      },
      ErrorCode::kShapeMismatch, {"lip geometry", "[75, 5]", "[74, 5]"});
  expect_error([&] { model_.encode_audio(context_, lips_.view(), tokens.view()); },
               ErrorCode::kShapeMismatch, {"log-mel frames", "[*, 20]"});
  const TensorView<const float> turned(mel_.data(), {kFrames, geometry_.mel_bands}, {1, kFrames});
  Tensor<float> audio({kFrames, geometry_.token_dim});
  expect_error([&] { model_.encode_audio(context_, turned, audio.view()); },
               ErrorCode::kInvalidArgument, {"log-mel frames", "not dense"});
  expect_error([&] { model_.fuse(context_, tokens.view(), audio.view(), 0, -1, {}, {}, {}); },
               ErrorCode::kInvalidArgument, {"width", "-1"});
  expect_error([&] { fuse(context_, tokens.view(), audio.view(), std::int64_t{1} << 62, 3); },
               ErrorCode::kInvalidArgument, {"first_key"});
  expect_error([&] { model_.fuse(context_, tokens.view(), audio.view(), 0, 3, {}, {}, {}); },
               ErrorCode::kShapeMismatch, {"lag logits", "[75, 7]"});
}

TEST(AlignerModelLoad, SaysWhatItLoaded) {
  const Bytes bytes = read_file(kSmall);
  const AlignerModel model = AlignerModel::load(bytes, "memory");
  EXPECT_EQ(model.info().name, "small random weights");
  EXPECT_EQ(model.info().sha256, AlignerModel::load(kSmall).info().sha256);
  EXPECT_EQ(model.calibration().correlated_ticks, 40);
}

void expect_refused(const Bytes& bytes, ErrorCode code, std::vector<std::string> words) {
  words.emplace_back("some.safetensors");
  expect_error([&] { AlignerModel::load(bytes, "some.safetensors"); }, code, words);
}

TEST(AlignerModelLoad, NamesFileAndTensorOfABadModel) {
  const Bytes good = read_file(kSmall);
  EXPECT_NO_THROW(AlignerModel::load(good, "good"));
  expect_error([] { AlignerModel::load("no/such.safetensors"); }, ErrorCode::kNotFound,
               {"no/such.safetensors"});
  expect_refused(edit_header(good, "\"speaking.weight\"", "\"speaking.other\""),
                 ErrorCode::kNotFound, {"\"speaking.weight\""});
  expect_refused(
      edit_header(good, "\"speaking.weight\"",
                  R"("extra":{"dtype":"F32","shape":[0],"data_offsets":[0,0]},"speaking.weight")"),
      ErrorCode::kCorruptData, {"does not know", "\"extra\""});
  expect_refused(edit_header(good, R"(\"feed_forward\": 48)", R"(\"feed_forward\": 47)"),
                 ErrorCode::kShapeMismatch, {"feed_forward.up.weight", "[47, 32]", "[48, 32]"});
  expect_refused(edit_header(good, R"("schema_version":"1")", R"("schema_version":"2")"),
                 ErrorCode::kUnsupported, {"newer av_fusion (schema 2)"});
  Bytes not_a_number = good;
  std::fill(not_a_number.end() - 4, not_a_number.end(), std::byte{0xff});
  expect_refused(not_a_number, ErrorCode::kCorruptData, {"tensor", "not finite"});
}

TEST(AlignerModelLoad, ReadsTheModelThatShips) {
  const AlignerModel model = AlignerModel::load(AV_FUSION_ASSETS_DIR "/models/aligner.safetensors");
  EXPECT_FALSE(model.info().name.empty());
  EXPECT_FALSE(model.info().licence.empty());
  EXPECT_FALSE(model.info().training_data.empty());
  EXPECT_EQ(model.geometry().audio_per_video, 4);
}

}  // namespace
}  // namespace av_fusion
