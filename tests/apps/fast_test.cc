// Copyright 2026 The av_fusion authors. SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "av_fusion/aligner.h"
#include "tests/apps/media_folder.h"

namespace av_fusion {
namespace {

constexpr double kLengthS = 800;

/// The sample over and over, for `kLengthS`.
class Fast : public testing::Test {
 protected:
  void SetUp() override {
    if (!test::has_ffmpeg()) GTEST_SKIP() << "the ffmpeg program is not there";
    film_ = folder_.make(
        "film.mkv", {"-stream_loop", "-1", "-i", AV_FUSION_ASSETS_DIR "/samples/talking_face.mp4",
                     "-t", std::to_string(kLengthS), "-c", "copy"});
  }

  AlignmentRun run(AlignerOptions options = {}) const {
    options.fast = true;
    return Aligner(options).align(MediaSource::from_path(film_));
  }

  test::MediaFolder folder_;
  std::string film_;
};

const AnalysedPart* part_with(const std::vector<AnalysedPart>& parts, MediaDuration from,
                              MediaDuration to) {
  const MediaDuration slack = MediaDuration::from_ms(80);
  for (const AnalysedPart& part : parts) {
    if (from >= part.start - slack && to <= part.end + slack) return &part;
  }
  return nullptr;
}

TEST_F(Fast, AnswersFromPartsAndSaysWhich) {
  const AlignmentRun fast = run();
  const Alignment& answer = fast.alignment;
  ASSERT_EQ(answer.status, AlignmentStatus::kMeasured) << answer.reason;
  AlignerOptions options;
  options.duration = MediaDuration::from_seconds(60);
  const AlignmentRun beginning = Aligner(options).align(MediaSource::from_path(film_));
  EXPECT_NEAR(answer.offset->ms, beginning.alignment.offset->ms, 5);
  EXPECT_GT(answer.offset->confidence, 0.9);

  ASSERT_EQ(answer.parts.size(), 4U);
  for (int quarter = 0; quarter < 4; ++quarter) {
    const AnalysedPart& part = answer.parts[static_cast<std::size_t>(quarter)];
    EXPECT_NEAR((part.start.seconds() + part.end.seconds()) / 2, 100 + 200 * quarter, 51);
  }
  std::set<const AnalysedPart*> with_a_face;
  for (std::size_t i = 0; i < answer.tracks.size(); ++i) {
    const FaceTrack& track = answer.tracks[i];
    EXPECT_EQ(track.id, static_cast<int>(i));
    EXPECT_GE(track.start, answer.tracks[i > 0 ? i - 1 : 0].start);
    with_a_face.insert(part_with(answer.parts, track.start, track.end));
  }
  EXPECT_EQ(with_a_face.size(), 4U);
  EXPECT_FALSE(with_a_face.contains(nullptr));
  ASSERT_FALSE(answer.timeline.empty() || answer.attention.empty());
  const auto belongs = [&](MediaDuration t, int track) {
    const FaceTrack& face = answer.tracks.at(static_cast<std::size_t>(track));
    return t + MediaDuration::from_ms(50) >= face.start && t <= face.end;
  };
  for (const TimelinePoint& point : answer.timeline) EXPECT_TRUE(belongs(point.t, point.track));
  for (const AttentionFrame& frame : answer.attention) EXPECT_TRUE(belongs(frame.t, frame.track));

  EXPECT_NEAR(fast.input.duration_s.value_or(0), kLengthS, 1);
  EXPECT_EQ(fast.input.video->start_s, beginning.input.video->start_s);
  EXPECT_EQ(fast.input.audio->start_s, beginning.input.audio->start_s);
  EXPECT_NEAR(fast.speech.seconds(), 24, 24);
  EXPECT_FALSE(fast.cancelled);
}

TEST_F(Fast, GoesOnUntilTheToleranceIsDecided) {
  const double offset_ms = run().alignment.offset->ms;
  AlignerOptions options;
  options.tolerance = Tolerance{"wide", "", 900, -900};
  EXPECT_EQ(run(options).alignment.parts.size(), 4U);
  options.tolerance = Tolerance{"at the answer", "", offset_ms, -900};
  EXPECT_EQ(run(options).alignment.parts.size(), 8U);
}

TEST_F(Fast, StartAndDurationBoundTheParts) {
  AlignerOptions options;
  options.start = MediaDuration::from_seconds(300);
  options.duration = MediaDuration::from_seconds(200);
  const Alignment answer = run(options).alignment;
  ASSERT_EQ(answer.parts.size(), 4U);
  EXPECT_NEAR(answer.parts.front().start.seconds(), 300 + 25 - 6, 0.01);
  EXPECT_NEAR(answer.parts.back().end.seconds(), 500 - 25 + 6, 0.01);
  EXPECT_GE(answer.tracks.front().start.seconds(), 318.9);
}

TEST_F(Fast, ProgressCountsAllPartsAndMayCancel) {
  AlignerOptions options;
  double last_s = 0;
  options.progress = [&](const AlignProgress& progress) {
    EXPECT_NEAR(progress.length->seconds(), 96, 0.01);
    EXPECT_GE(progress.position.seconds(), last_s);
    last_s = progress.position.seconds();
    return last_s < 15;
  };
  const AlignmentRun stopped = run(options);
  EXPECT_TRUE(stopped.cancelled);
  EXPECT_EQ(stopped.alignment.parts.size(), 2U);
}

TEST_F(Fast, ARemarkThatEveryPartGivesRiseToIsMadeOnce) {
  // The down-mix of opposite channels is silent, which is worth a remark.
  const std::string film =
      folder_.make("antiphase.mkv", {"-i", film_, "-t", "130", "-c:v", "copy", "-af",
                                     "pan=stereo|c0=c0|c1=-1*c0", "-c:a", "pcm_s16le"});
  std::vector<std::string> remarks;
  AlignerOptions options;
  options.fast = true;
  options.log = [&](LogLevel, std::string_view text) { remarks.emplace_back(text); };
  const AlignmentRun run = Aligner(options).align(MediaSource::from_path(film));
  EXPECT_EQ(run.alignment.parts.size(), 4U);
  EXPECT_EQ(run.input.audio->channel, "difference");
  EXPECT_EQ(std::count_if(remarks.begin(), remarks.end(),
                          [](const std::string& remark) {
                            return remark.find("difference") != std::string::npos;
                          }),
            1);
}

TEST_F(Fast, CountsThePicturesOfAllParts) {
  const std::string film = folder_.make(
      "pattern.mkv", {"-f", "lavfi", "-i", "testsrc=size=160x120:rate=25", "-f", "lavfi", "-i",
                      "sine=frequency=300:sample_rate=16000", "-t", "130", "-c:a", "pcm_s16le"});
  AlignerOptions options;
  options.fast = true;
  const Alignment answer = Aligner(options).align(MediaSource::from_path(film)).alignment;
  EXPECT_EQ(answer.status, AlignmentStatus::kNoFace);
  int pictures = 0;
  ASSERT_EQ(std::sscanf(answer.reason.c_str(), "a face was seen in 0 of %d", &pictures), 1)
      << answer.reason;
  EXPECT_NEAR(pictures, 4 * 12 * 25, 8);
}

TEST_F(Fast, PartsBehindTheEndOfATruncatedFileAreNotThere) {
  const std::string content = test::read_file(film_);
  const std::string cut = folder_.write("cut.mkv", content.substr(0, content.size() * 6 / 10));
  AlignerOptions options;
  options.fast = true;
  const AlignmentRun run = Aligner(options).align(MediaSource::from_path(cut));
  EXPECT_EQ(run.alignment.status, AlignmentStatus::kMeasured);
  EXPECT_TRUE(run.input.truncated);
  EXPECT_GE(run.alignment.parts.size(), 4U) << "there are enough before the end";
  EXPECT_LT(run.alignment.parts.back().start.seconds(), 0.65 * kLengthS);
}

TEST_F(Fast, WhatCannotSeekIsAnalysedWhole) {
  AlignerOptions options;
  options.fast = true;
  double position_s = 0;
  options.progress = [&](const AlignProgress& progress) {
    position_s = progress.position.seconds();
    EXPECT_NE(progress.length.value_or(MediaDuration{}).seconds(), 96);
    return position_s < 13;
  };
  const std::string content = test::read_file(film_);
  std::size_t at = 0;
  const auto read = [&](std::span<std::byte> buffer) {
    const std::size_t count = std::min(buffer.size(), content.size() - at);
    std::copy_n(reinterpret_cast<const std::byte*>(content.data()) + at, count, buffer.data());
    at += count;
    return count;
  };
  const AlignmentRun stopped = Aligner(options).align(MediaSource::from_callback(read));
  EXPECT_TRUE(stopped.cancelled);
  EXPECT_TRUE(stopped.alignment.parts.empty());
  EXPECT_LT(stopped.alignment.tracks.front().start.seconds(), 1);
  EXPECT_GE(position_s, 13);
}

TEST(FastOnAShortFile, IsTheUsualAnswer) {
  const MediaSource sample =
      MediaSource::from_path(AV_FUSION_ASSETS_DIR "/samples/talking_face.mp4");
  AlignerOptions options;
  const Alignment usual = Aligner(options).align(sample).alignment;
  options.fast = true;
  const Alignment fast = Aligner(options).align(sample).alignment;
  EXPECT_TRUE(fast.parts.empty());
  EXPECT_EQ(fast.offset->ms, usual.offset->ms);
  EXPECT_EQ(fast.offset->confidence, usual.offset->confidence);
}

}  // namespace
}  // namespace av_fusion
