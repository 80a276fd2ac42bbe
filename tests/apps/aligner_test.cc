// Copyright 2026 The av_fusion authors. SPDX-License-Identifier: Apache-2.0
#include "av_fusion/aligner.h"

#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <cstdlib>
#include <span>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "av_fusion/core/error.h"
#include "tests/apps/media_folder.h"

namespace av_fusion {
namespace {

using test::MediaFolder;

const std::string kSample = AV_FUSION_ASSETS_DIR "/samples/talking_face.mp4";

MediaSource sample() { return MediaSource::from_path(kSample); }

AlignerOptions first_seconds(double seconds) {
  AlignerOptions options;
  options.duration = MediaDuration::from_seconds(seconds);
  return options;
}

/// Numbers of one machine and one program: they must agree to the last bit.
void expect_same(const Alignment& a, const Alignment& b) {
  EXPECT_EQ(a.status, b.status);
  EXPECT_EQ(a.reason, b.reason);
  ASSERT_EQ(a.offset.has_value(), b.offset.has_value());
  if (a.offset) {
    EXPECT_EQ(a.offset->ms, b.offset->ms);
    EXPECT_EQ(a.offset->confidence, b.offset->confidence);
  }
  ASSERT_EQ(a.attention.size(), b.attention.size());
  for (std::size_t i = 0; i < a.attention.size(); ++i) {
    EXPECT_EQ(a.attention[i].audio_t, b.attention[i].audio_t);
    EXPECT_EQ(a.attention[i].weight, b.attention[i].weight);
  }
}

TEST(Aligner, DescribesTheRun) {
  const Aligner aligner(first_seconds(2));
  const AlignmentRun run = aligner.align(sample());
  EXPECT_EQ(run.input.path, kSample);
  ASSERT_TRUE(run.input.video && run.input.audio);
  EXPECT_EQ(run.input.video->codec, "h264");
  EXPECT_FALSE(run.cancelled);
  EXPECT_GT(run.performance.wall_s, 0);
  EXPECT_GT(run.performance.speed_x_realtime.value_or(0), 0);
  EXPECT_EQ(run.performance.threads, 1);
  ASSERT_EQ(run.alignment.tracks.size(), 1U);
  EXPECT_NEAR(run.alignment.tracks[0].end.seconds(), 2, 0.1);
  EXPECT_GT(run.speech.seconds(), 0.5);
  EXPECT_LT(run.speech.seconds(), 4.5);
  ASSERT_TRUE(aligner.tool().model);
  EXPECT_EQ(aligner.tool().model->sha256.size(), 64U);
}

TEST(Aligner, TwoThreadsShareOne) {
  const Aligner aligner(first_seconds(3));
  const AlignmentRun alone = aligner.align(sample());
  std::array<AlignmentRun, 2> runs;
  {
    std::vector<std::jthread> threads;
    for (AlignmentRun& run : runs) {
      threads.emplace_back([&] { run = aligner.align(sample()); });
    }
  }
  for (const AlignmentRun& run : runs) expect_same(run.alignment, alone.alignment);
}

TEST(Aligner, AnswerDoesNotDependOnWhereBytesComeFrom) {
  const Aligner aligner(first_seconds(3));
  const std::string content = test::read_file(kSample);
  const MediaSource memory =
      MediaSource::from_bytes(std::as_bytes(std::span(content.data(), content.size())), "bytes");
  const AlignmentRun run = aligner.align(memory);
  EXPECT_EQ(run.input.path, "bytes");
  expect_same(run.alignment, aligner.align(sample()).alignment);
}

TEST(Aligner, SilenceIsNotSpeech) {
  if (!test::has_ffmpeg()) GTEST_SKIP() << "the ffmpeg program is not there";
  const MediaFolder folder;
  const std::string file =
      folder.make("silent.mkv", {"-i", kSample, "-f", "lavfi", "-i", "anullsrc=sample_rate=16000",
                                 "-map", "0:v", "-map", "1:a", "-c:v", "copy", "-t", "2"});
  const AlignmentRun run = Aligner().align(MediaSource::from_path(file));
  EXPECT_EQ(run.alignment.status, AlignmentStatus::kNoSpeech);
  EXPECT_EQ(run.speech.us, 0);
  EXPECT_FALSE(run.alignment.offset);
}

TEST(Aligner, SoundMayEndLongBeforeThePicture) {
  if (!test::has_ffmpeg()) GTEST_SKIP() << "the ffmpeg program is not there";
  const MediaFolder folder;
  const std::string file =
      folder.make("short_sound.mkv", {"-i", kSample, "-t", "3", "-i", kSample, "-map", "0:v",
                                      "-map", "1:a", "-c:v", "copy", "-c:a", "pcm_s16le"});
  AlignerOptions options;
  options.max_interleave = MediaDuration::from_seconds(1);
  const AlignmentRun run = Aligner(options).align(MediaSource::from_path(file));
  ASSERT_EQ(run.alignment.tracks.size(), 1U);
  EXPECT_GT(run.alignment.tracks[0].end.seconds(), 8);  // no picture was left out
}

/// A transport stream with all packets of one kind before all of the other, tables first.
std::string pull_apart(const std::string& stream, bool pictures_first) {
  constexpr std::size_t kPacket = 188;
  constexpr int kVideoPid = 0x100;
  constexpr int kAudioPid = 0x101;
  std::string tables, video, audio;
  for (std::size_t at = 0; at + kPacket <= stream.size(); at += kPacket) {
    const int high = static_cast<unsigned char>(stream[at + 1]) & 0x1f;
    const int pid = high << 8 | static_cast<unsigned char>(stream[at + 2]);
    std::string& part = pid == kVideoPid ? video : pid == kAudioPid ? audio : tables;
    part.append(stream, at, kPacket);
  }
  return tables + (pictures_first ? video + audio : audio + video);
}

TEST(Aligner, BadInterleavingIsReadUpToALimit) {
  if (!test::has_ffmpeg()) GTEST_SKIP() << "the ffmpeg program is not there";
  const MediaFolder folder;
  const std::string good = folder.make("good.ts", {"-i", kSample, "-c", "copy"});
  const AlignmentRun expected = Aligner().align(MediaSource::from_path(good));
  AlignerOptions narrow;
  narrow.max_interleave = MediaDuration::from_seconds(2);
  for (const bool pictures_first : {true, false}) {
    SCOPED_TRACE(pictures_first);
    const std::string apart =
        folder.write("apart.ts", pull_apart(test::read_file(good), pictures_first));
    const AlignmentRun run = Aligner().align(MediaSource::from_path(apart));
    expect_same(run.alignment, expected.alignment);
    try {
      Aligner(narrow).align(MediaSource::from_path(apart));
      ADD_FAILURE() << "no error";
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::kUnsupported);
      EXPECT_EQ(error.context(), apart);
    }
  }
}

TEST(Aligner, ProgressMayCancel) {
  int calls = 0;
  AlignerOptions options;
  options.progress = [&](const AlignProgress& progress) {
    EXPECT_GE(progress.position.us, 0);
    EXPECT_TRUE(progress.length.has_value());
    return ++calls < 2;
  };
  const AlignmentRun run = Aligner(options).align(sample());
  EXPECT_TRUE(run.cancelled);
  EXPECT_EQ(calls, 2);
  EXPECT_LT(run.alignment.tracks.empty() ? 0 : run.alignment.tracks[0].end.seconds(), 9);
}

TEST(Aligner, TryAlignReturnsTheFailure) {
  const Aligner aligner;
  static_assert(
      noexcept(std::declval<const Aligner&>().try_align(std::declval<const MediaSource&>())));
  const MediaFolder folder;
  const AlignAttempt missing = aligner.try_align(MediaSource::from_path(folder.file("no.mp4")));
  EXPECT_FALSE(missing.run);
  EXPECT_EQ(missing.failure.code, ErrorCode::kNotFound);
  EXPECT_NE(missing.failure.message.find("no.mp4"), std::string::npos);
  const AlignAttempt damaged =
      aligner.try_align(MediaSource::from_path(folder.write("text.mp4", "no video")));
  EXPECT_FALSE(damaged.run);
  EXPECT_EQ(damaged.failure.code, ErrorCode::kCorruptData);
}

TEST(Aligner, TryCreateReturnsTheFailure) {
  AlignerOptions options;
  options.model = "no_such_model.safetensors";
  AlignFailure failure;
  EXPECT_EQ(Aligner::try_create(options, failure), nullptr);
  EXPECT_EQ(failure.code, ErrorCode::kNotFound);
  EXPECT_NE(failure.message.find("no_such_model"), std::string::npos);
  EXPECT_NE(Aligner::try_create({}, failure), nullptr);
}

TEST(Aligner, RefusesOptionsOutOfRange) {
  const auto refused = [](auto change) {
    AlignerOptions options;
    change(options);
    try {
      const Aligner aligner(options);
    } catch (const Error& error) {
      return error.code() == ErrorCode::kInvalidArgument;
    }
    return false;
  };
  EXPECT_TRUE(refused([](AlignerOptions& o) { o.max_offset = MediaDuration::from_ms(50); }));
  EXPECT_TRUE(refused([](AlignerOptions& o) { o.max_offset = MediaDuration::from_seconds(11); }));
  EXPECT_TRUE(refused([](AlignerOptions& o) { o.window = MediaDuration{0}; }));
  EXPECT_TRUE(refused([](AlignerOptions& o) { o.hop = MediaDuration{-1}; }));
  EXPECT_TRUE(refused([](AlignerOptions& o) { o.start = MediaDuration{-1}; }));
  EXPECT_TRUE(refused([](AlignerOptions& o) { o.duration = MediaDuration{0}; }));
  EXPECT_TRUE(refused([](AlignerOptions& o) { o.threads = 0; }));
  EXPECT_TRUE(refused([](AlignerOptions& o) { o.max_interleave = MediaDuration{0}; }));
}

TEST(Aligner, RefusesAModelForOtherFeatures) {
  AlignerOptions options;
  options.model = AV_FUSION_SMALL_MODEL;
  try {
    const Aligner aligner(options);
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kUnsupported);
  }
}

TEST(Aligner, EnvironmentNamesTheDefaultModel) {
  const char* old = std::getenv("AV_FUSION_MODEL");
  const std::string before = old == nullptr ? "" : old;
  setenv("AV_FUSION_MODEL", "elsewhere.safetensors", 1);
  EXPECT_EQ(Aligner::default_model_path(), "elsewhere.safetensors");
  if (old == nullptr) {
    unsetenv("AV_FUSION_MODEL");
  } else {
    setenv("AV_FUSION_MODEL", before.c_str(), 1);
  }
}

}  // namespace
}  // namespace av_fusion
