// Copyright 2026 The av_fusion authors. SPDX-License-Identifier: Apache-2.0
// The stream must give the numbers that the model gives for the whole file at once.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <random>
#include <thread>
#include <utility>
#include <vector>

#include "av_fusion/core/error.h"
#include "av_fusion/fusion_runner_internal.h"
#include "av_fusion/fusion_stream_internal.h"

namespace av_fusion {
namespace {

constexpr std::int64_t kWidth = 30;
constexpr Timeline kGrid{{1'234'567}, {40'000}};

// One face over its whole life.
struct Face {
  int id = 0;
  std::int64_t first_tick = 0;
  Tensor<std::uint8_t> crops;
  Tensor<float> lips;
  std::int64_t length() const { return crops.dim(0); }
};

struct Rows {
  std::vector<std::vector<float>> lag_logits;
  std::vector<std::vector<float>> head_weights;
  std::vector<float> speaking_logits;
  std::vector<std::int64_t> ticks;
  std::vector<MediaDuration> picture_late;
  std::vector<float> box_x;
  bool ended = false;
};

void append_rows(const Tensor<float>& from, std::vector<std::vector<float>>& to) {
  const std::int64_t size = from.num_elements() / from.dim(0);
  for (std::int64_t i = 0; i < from.dim(0); ++i) {
    to.emplace_back(from.data() + i * size, from.data() + (i + 1) * size);
  }
}

class FusionStreamTest : public ::testing::Test {
 protected:
  FusionStreamTest() : model_(AlignerModel::load(AV_FUSION_SMALL_MODEL)) {}

  const AlignerModel::Geometry& geometry() const { return model_.geometry(); }
  std::int64_t lead_frames() const { return FusionStream::lead(model_, kWidth).us / 10'000; }

  Face make_face(int id, std::int64_t first_tick, std::int64_t length) {
    Face face{id, first_tick,
              Tensor<std::uint8_t>({length, geometry().mouth_height, geometry().mouth_width}),
              Tensor<float>({length, geometry().lip_features})};
    for (auto& pixel : face.crops.elements()) pixel = static_cast<std::uint8_t>(random_() % 256);
    std::normal_distribution<float> normal;
    for (auto& value : face.lips.elements()) value = normal(random_);
    return face;
  }

  Tensor<float> make_mel(std::int64_t frames) {
    Tensor<float> mel({frames, geometry().mel_bands});
    std::normal_distribution<float> normal(-8, 3);
    for (auto& value : mel.elements()) value = normal(random_);
    return mel;
  }

  MouthChunk chunk_of(const Face& face, std::int64_t from, std::int64_t to) const {
    MouthChunk chunk;
    const std::int64_t count = to - from;
    chunk.track_id = face.id;
    chunk.first_tick = face.first_tick + from;
    chunk.crops = Tensor<std::uint8_t>({count, geometry().mouth_height, geometry().mouth_width});
    chunk.geometry = Tensor<float>({count, geometry().lip_features});
    const auto crops = face.crops.view().slice(from, to);
    const auto lips = face.lips.view().slice(from, to);
    std::copy_n(crops.data(), crops.num_elements(), chunk.crops.data());
    std::copy_n(lips.data(), lips.num_elements(), chunk.geometry.data());
    for (std::int64_t i = from; i < to; ++i) {
      const std::int64_t tick = face.first_tick + i;
      chunk.valid.push_back(1);
      chunk.picture_times.push_back(kGrid.at(tick) + MediaDuration{tick % 7});
      chunk.boxes.push_back({static_cast<float>(tick), 0, 1, 1, 1});
    }
    chunk.ends_track = to == face.length();
    return chunk;
  }

  FusionStream::Sink collect() {
    return {.evidence =
                [this](const FusedTicks& fused) {
                  Rows& rows = rows_[fused.track_id];
                  EXPECT_FALSE(rows.ended);
                  const SyncEvidence& evidence = fused.evidence;
                  append_rows(evidence.lag_logits, rows.lag_logits);
                  append_rows(evidence.head_weights, rows.head_weights);
                  const auto speaking = evidence.speaking_logits.elements();
                  rows.speaking_logits.insert(rows.speaking_logits.end(), speaking.begin(),
                                              speaking.end());
                  for (std::int64_t i = 0; i < evidence.lag_logits.dim(0); ++i) {
                    rows.ticks.push_back(kGrid.nearest(evidence.ticks.at(i)));
                    rows.picture_late.push_back(evidence.picture_late[static_cast<std::size_t>(i)]);
                    rows.box_x.push_back(fused.boxes[static_cast<std::size_t>(i)].x);
                  }
                },
            .end_track = [this](int track_id) { rows_[track_id].ended = true; }};
  }

  /// Feeds faces and sound in pieces of random length, the sound up to `skew` ticks before or
  /// behind.
  void feed(FusionStream& stream, const std::vector<Face>& faces, const Tensor<float>& mel,
            std::int64_t ticks, std::int64_t skew) {
    std::int64_t tick = 0;
    std::int64_t frame = 0;
    while (tick < ticks || frame < mel.dim(0)) {
      const std::int64_t ahead = frame / geometry().audio_per_video - tick;
      const bool sound = tick >= ticks ||
                         (frame < mel.dim(0) && ahead < skew && random_() % 2 == 0) ||
                         (frame < mel.dim(0) && ahead < -skew);
      if (sound) {
        const auto to = std::min<std::int64_t>(mel.dim(0), frame + 1 + random_() % 150);
        stream.push_audio(mel.view().slice(frame, to));
        frame = to;
        continue;
      }
      const auto to = std::min<std::int64_t>(ticks, tick + 1 + random_() % 9);
      for (const Face& face : faces) {
        const std::int64_t from_row =
            std::clamp<std::int64_t>(tick - face.first_tick, 0, face.length());
        const std::int64_t to_row =
            std::clamp<std::int64_t>(to - face.first_tick, 0, face.length());
        if (to_row > from_row) stream.push_mouths(chunk_of(face, from_row, to_row), kGrid);
      }
      tick = to;
      stream.advance_to(tick - 1);
    }
    stream.finish_video();
    stream.finish_audio();
  }

  /// Everything at once, straight from the model.
  void expect_whole_file_numbers(const Face& face, const Tensor<float>& mel) {
    ExecContext context;
    Tensor<float> audio({mel.dim(0), geometry().token_dim});
    model_.encode_audio(context, mel.view(), audio.view());
    Tensor<float> video({face.length(), geometry().token_dim});
    model_.encode_video(context, face.crops.view(), face.lips.view(), video.view());
    Tensor<float> logits({face.length(), 2 * kWidth + 1});
    Tensor<float> weights({face.length(), geometry().num_heads, 2 * kWidth + 1});
    Tensor<float> speaking({face.length()});
    const std::int64_t first_key = lead_frames() + geometry().audio_per_video * face.first_tick;
    model_.fuse(context, video.view(), audio.view(), first_key, kWidth, logits.view(),
                weights.view(), speaking.view());

    const Rows& rows = rows_[face.id];
    EXPECT_TRUE(rows.ended);
    ASSERT_EQ(static_cast<std::int64_t>(rows.ticks.size()), face.length());
    Rows expected;
    append_rows(logits, expected.lag_logits);
    append_rows(weights, expected.head_weights);
    for (std::size_t i = 0; i < rows.ticks.size(); ++i) {
      const std::int64_t tick = face.first_tick + static_cast<std::int64_t>(i);
      ASSERT_EQ(rows.ticks[i], tick);
      ASSERT_EQ(rows.picture_late[i].us, tick % 7);
      ASSERT_EQ(rows.box_x[i], static_cast<float>(tick));
      ASSERT_NEAR(rows.speaking_logits[i], speaking.data()[i], 1e-5) << "tick " << tick;
      for (std::size_t l = 0; l < rows.lag_logits[i].size(); ++l) {
        ASSERT_NEAR(rows.lag_logits[i][l], expected.lag_logits[i][l], 1e-5) << tick << " " << l;
      }
      for (std::size_t l = 0; l < rows.head_weights[i].size(); ++l) {
        ASSERT_NEAR(rows.head_weights[i][l], expected.head_weights[i][l], 1e-6) << tick;
      }
    }
  }

  AlignerModel model_;
  ExecContext context_;
  std::mt19937 random_{7};
  std::map<int, Rows> rows_;
};

TEST_F(FusionStreamTest, GivesWholeFileNumbers) {
  const std::int64_t ticks = 400;
  std::vector<Face> faces;
  faces.push_back(make_face(0, 0, 400));    // from the first to the last tick
  faces.push_back(make_face(1, 137, 101));  // in the middle
  faces.push_back(make_face(2, 390, 5));    // shorter than any context
  const Tensor<float> mel = make_mel(lead_frames() + 4 * ticks + kWidth + geometry().audio_future);
  FusionStream::Options options;
  options.width = kWidth;
  for (const auto& [video, audio, fuse, skew] :
       {std::tuple{200, 400, 100, 20}, std::tuple{7, 31, 13, 60}, std::tuple{1, 1, 1, 5},
        std::tuple{1000, 5000, 1000, 200}}) {
    SCOPED_TRACE(::testing::Message() << video << " " << audio << " " << fuse << " " << skew);
    options.video_chunk = video;
    options.audio_chunk = audio;
    options.fuse_chunk = fuse;
    rows_.clear();
    FusionStream stream(model_, context_, options, collect(), "test");
    feed(stream, faces, mel, ticks, skew);
    for (const Face& face : faces) expect_whole_file_numbers(face, mel);
  }
}

TEST_F(FusionStreamTest, SoundThatNoFaceNeedsIsSkipped) {
  const std::int64_t ticks = 3000;
  std::vector<Face> faces;
  faces.push_back(make_face(0, 10, 60));
  faces.push_back(make_face(1, 2900, 60));
  const Tensor<float> mel = make_mel(lead_frames() + 4 * ticks + kWidth);
  FusionStream::Options options;
  options.width = kWidth;
  options.max_frames = 1000;
  FusionStream stream(model_, context_, options, collect(), "test");
  feed(stream, faces, mel, ticks, 100);
  for (const Face& face : faces) expect_whole_file_numbers(face, mel);
}

TEST_F(FusionStreamTest, SoundFarBeforeItsPictureIsAnError) {
  const Face face = make_face(0, 0, 500);
  const Tensor<float> mel = make_mel(lead_frames() + 4 * 500 + kWidth);
  FusionStream::Options options;
  options.width = kWidth;
  options.video_chunk = options.fuse_chunk = 10;
  options.max_frames = 1000;
  FusionStream stream(model_, context_, options, collect(), "talk.mkv");
  stream.push_audio(mel.view());
  try {
    stream.push_mouths(chunk_of(face, 0, 250), kGrid);
    stream.finish_video();
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kUnsupported);
    EXPECT_EQ(error.context(), "talk.mkv");
  }
}

TEST_F(FusionStreamTest, HeldBackTicksBeforeALongHoleAreNoError) {
  const Face face = make_face(0, 0, 100);
  const Tensor<float> mel = make_mel(5000);
  FusionStream::Options options;
  options.width = kWidth;
  options.video_chunk = options.fuse_chunk = 10;
  options.max_frames = 1000;
  FusionStream stream(model_, context_, options, collect(), "test");
  stream.push_audio(mel.view().slice(0, 700));
  stream.push_mouths(chunk_of(face, 0, 93), kGrid);
  stream.advance_to(99);  // the extractor still holds 7 ticks, and no picture comes
  stream.push_audio(mel.view().slice(700, 5000));
  stream.push_mouths(chunk_of(face, 93, 100), kGrid);
  stream.finish_video();
  stream.finish_audio();
  EXPECT_TRUE(rows_[0].ended);
  EXPECT_LT(rows_[0].ticks.size(), 100U);  // the sound of the last ticks is gone
  EXPECT_GE(rows_[0].ticks.size(), 60U);
}

TEST_F(FusionStreamTest, WithoutFacesNothingComesOut) {
  const Tensor<float> mel = make_mel(500);
  FusionStream::Options options;
  options.width = kWidth;
  FusionStream stream(model_, context_, options, collect(), "test");
  stream.push_audio(mel.view());
  stream.advance_to(80);
  stream.finish_video();
  stream.finish_audio();
  EXPECT_TRUE(rows_.empty());
}

// ---- On a thread of its own

TEST_F(FusionStreamTest, ARunnerGivesTheSameNumbersOnAnyThread) {
  const Face face = make_face(0, 3, 300);
  const Tensor<float> mel = make_mel(lead_frames() + 4 * 303 + kWidth + geometry().audio_future);
  FusionStream::Options options;
  options.width = kWidth;
  for (const bool on_own_thread : {false, true}) {
    SCOPED_TRACE(on_own_thread);
    rows_.clear();
    FusionStream stream(model_, context_, options, collect(), "test");
    FusionRunner runner(stream, on_own_thread);
    for (std::int64_t row = 0; row < 300; ++row) {
      runner.run(FusionRunner::Mouths{chunk_of(face, row, row + 1), kGrid});
      runner.run(FusionRunner::AdvanceTo{face.first_tick + row});
    }
    runner.run(FusionRunner::FinishVideo{});
    runner.run(FusionRunner::Audio{mel.clone()});
    runner.run(FusionRunner::FinishAudio{});
    runner.finish();
    expect_whole_file_numbers(face, mel);
  }
}

TEST_F(FusionStreamTest, WhatFailsOnTheOtherThreadReachesTheCaller) {
  const Face face = make_face(0, 0, 500);
  const Tensor<float> mel = make_mel(lead_frames() + 4 * 500 + kWidth);
  FusionStream::Options options;
  options.width = kWidth;
  for (const bool at_the_end : {false, true}) {
    SCOPED_TRACE(at_the_end);
    FusionStream stream(
        model_, context_, options,
        {.evidence = [](const FusedTicks&) { throw Error(ErrorCode::kInternal, "sink", "full"); },
         .end_track = [](int) {}},
        "test");
    FusionRunner runner(stream, true);
    runner.run(FusionRunner::Audio{mel.clone()});
    const auto drive = [&] {
      runner.run(FusionRunner::Mouths{chunk_of(face, 0, 500), kGrid});
      runner.run(FusionRunner::FinishVideo{});
      while (!at_the_end) runner.run(FusionRunner::AdvanceTo{500});
      runner.finish();
    };
    try {
      drive();
      ADD_FAILURE() << "no error";
    } catch (const Error& error) {
      EXPECT_EQ(error.context(), "sink");
    }
  }
}

TEST_F(FusionStreamTest, ARunnerThatIsGivenUpDropsWhatWaits) {
  constexpr std::int64_t kCalls = 60;
  const Face face = make_face(0, 0, 10 * kCalls);
  const Tensor<float> mel = make_mel(lead_frames() + 40 * kCalls + kWidth + 100);
  FusionStream::Options options;
  options.width = kWidth;
  options.video_chunk = options.fuse_chunk = 10;
  int chunks = 0;
  FusionStream stream(model_, context_, options,
                      {.evidence =
                           [&](const FusedTicks&) {
                             ++chunks;
                             std::this_thread::sleep_for(std::chrono::milliseconds(20));
                           },
                       .end_track = [](int) {}},
                      "test");
  {
    FusionRunner runner(stream, true);
    runner.run(FusionRunner::Audio{mel.clone()});
    runner.run(FusionRunner::FinishAudio{});
    for (std::int64_t i = 0; i < kCalls; ++i) {
      runner.run(FusionRunner::Mouths{chunk_of(face, 10 * i, 10 * i + 10), kGrid});
    }
  }
  EXPECT_LT(chunks, kCalls / 2);
}

}  // namespace
}  // namespace av_fusion
