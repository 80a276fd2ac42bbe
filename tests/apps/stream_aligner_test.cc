// Copyright 2026 The av_fusion authors. SPDX-License-Identifier: Apache-2.0
#include "av_fusion/stream_aligner.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <functional>
#include <limits>
#include <optional>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "av_fusion/core/error.h"
#include "tests/apps/film.h"
#include "tests/apps/media_folder.h"

namespace av_fusion {
namespace {

using test::Film;

const std::string kSample = AV_FUSION_ASSETS_DIR "/samples/talking_face.mp4";
constexpr double kLengthS = 6;

const Film& film() {
  static const Film kFilm = test::read_film(kSample, MediaDuration::from_seconds(kLengthS));
  return kFilm;
}

const Aligner& aligner() {
  static const Aligner kAligner = [] {
    AlignerOptions options;
    options.duration = MediaDuration::from_seconds(kLengthS);
    return Aligner(options);
  }();
  return kAligner;
}

const Alignment& of_the_file() {
  static const Alignment kAnswer = aligner().align(MediaSource::from_path(kSample)).alignment;
  return kAnswer;
}

void push_picture(StreamAligner& stream, const VideoFrame& frame) {
  stream.push_video(frame.time, frame.luma.view());
}

std::span<const float> sound(std::size_t from, std::size_t to) {
  return std::span(film().sound).subspan(from, to - from);
}

using Rest = std::function<void(StreamAligner&, MediaTime)>;

/// Pushes the film, sound first within each fifth of a second; `after_each` picture.
void push_film(StreamAligner& stream, const Rest& after_each = {}) {
  std::size_t from = 0;
  for (const VideoFrame& frame : film().pictures) {
    const std::size_t to = std::min(from + 640, film().sound.size());
    stream.push_audio(film().time_of(from), sound(from, to));
    from = to;
    push_picture(stream, frame);
    if (after_each) after_each(stream, frame.time);
  }
  stream.push_audio(film().time_of(from), sound(from, film().sound.size()));
}

/// In pieces of random length, either stream up to three seconds before the other.
void push_film_anyhow(StreamAligner& stream, unsigned seed) {
  std::mt19937 random(seed);
  std::size_t sample = 0;
  std::size_t picture = 0;
  while (sample < film().sound.size() || picture < film().pictures.size()) {
    const bool has_both = sample < film().sound.size() && picture < film().pictures.size();
    const double lead_s =
        has_both ? (film().time_of(sample) - film().pictures[picture].time).seconds() : 0;
    bool is_sound = picture == film().pictures.size();
    if (has_both) is_sound = lead_s < -3 || (lead_s < 3 && random() % 2 == 0);
    if (!is_sound) {
      push_picture(stream, film().pictures[picture++]);
      continue;
    }
    const std::size_t most = random() % 4 == 0 ? 40000 : 700;  // over two seconds, or little
    const std::size_t to = std::min(sample + 1 + random() % most, film().sound.size());
    stream.push_audio(film().time_of(sample), sound(sample, to));
    sample = to;
  }
}

void expect_same(const Offset& a, const Offset& b) {
  EXPECT_EQ(a.ms, b.ms);
  EXPECT_EQ(a.low_ms, b.low_ms);
  EXPECT_EQ(a.high_ms, b.high_ms);
  EXPECT_EQ(a.confidence, b.confidence);
}

/// To the last bit.
void expect_same(const Alignment& a, const Alignment& b) {
  EXPECT_EQ(a.status, b.status);
  EXPECT_EQ(a.reason, b.reason);
  ASSERT_TRUE(a.offset && b.offset);
  expect_same(*a.offset, *b.offset);
  ASSERT_EQ(a.timeline.size(), b.timeline.size());
  for (std::size_t i = 0; i < a.timeline.size(); ++i) {
    EXPECT_EQ(a.timeline[i].t, b.timeline[i].t);
    expect_same(a.timeline[i].offset, b.timeline[i].offset);
  }
  ASSERT_EQ(a.tracks.size(), b.tracks.size());
  for (std::size_t i = 0; i < a.tracks.size(); ++i) {
    EXPECT_EQ(a.tracks[i].start, b.tracks[i].start);
    EXPECT_EQ(a.tracks[i].end, b.tracks[i].end);
    EXPECT_TRUE(std::ranges::equal(a.tracks[i].box, b.tracks[i].box));
    ASSERT_EQ(a.tracks[i].speaking.size(), b.tracks[i].speaking.size());
    for (std::size_t k = 0; k < a.tracks[i].speaking.size(); ++k) {
      EXPECT_EQ(a.tracks[i].speaking[k].start, b.tracks[i].speaking[k].start);
      EXPECT_EQ(a.tracks[i].speaking[k].probability, b.tracks[i].speaking[k].probability);
    }
  }
  ASSERT_EQ(a.attention.size(), b.attention.size());
  for (std::size_t i = 0; i < a.attention.size(); ++i) {
    EXPECT_EQ(a.attention[i].t, b.attention[i].t);
    EXPECT_EQ(a.attention[i].weight, b.attention[i].weight);
    EXPECT_EQ(a.attention[i].per_head_audio_t, b.attention[i].per_head_audio_t);
  }
}

TEST(StreamAligner, HasTheAnswerOfTheFileHoweverItIsCut) {
  ASSERT_GT(film().pictures.size(), 100U);
  ASSERT_EQ(of_the_file().status, AlignmentStatus::kMeasured);
  for (const unsigned seed : {1U, 2U, 3U, 4U}) {
    SCOPED_TRACE(seed);
    StreamAligner stream(aligner());
    push_film_anyhow(stream, seed);
    EXPECT_EQ(stream.poll().samples_dropped, 0);
    expect_same(stream.finish(), of_the_file());
  }
}

/// The content of a file of 32-bit floats.
std::vector<float> read_floats(const std::string& path) {
  const std::string bytes = test::read_file(path);
  std::vector<float> values(bytes.size() / sizeof(float));
  std::memcpy(values.data(), bytes.data(), values.size() * sizeof(float));
  return values;
}

TEST(StreamAligner, TakesSoundOfTheHostsRate) {
  if (!test::has_ffmpeg()) GTEST_SKIP() << "the ffmpeg program is not there";
  const test::MediaFolder folder;
  const std::string path = folder.make("film.mkv", {"-i", kSample, "-t", "5", "-c:v", "copy", "-ac",
                                                    "1", "-ar", "48000", "-c:a", "pcm_f32le"});
  const std::vector<float> samples =
      read_floats(folder.make("sound", {"-i", path, "-map", "0:a", "-f", "f32le"}));
  ASSERT_GT(samples.size(), 230'000U);
  const Film pictures = test::read_film(path, MediaDuration::from_seconds(9));
  const Aligner whole;
  const Alignment of_file = whole.align(MediaSource::from_path(path)).alignment;
  const auto time_of = [&](std::size_t sample) {
    return pictures.sound_start + MediaDuration{static_cast<std::int64_t>(sample) * 1000 / 48};
  };
  for (const std::size_t again : {0U, 999U}) {  // so much of it twice, which is more than jitter
    StreamAligner stream(whole, {.keep = {}, .sample_rate_hz = 48000});
    std::mt19937 random(3);
    std::size_t heard = 0;
    std::int64_t twice = 0;
    const auto push_until = [&](std::size_t to) {
      const std::size_t from = heard < again ? heard : heard - again;
      stream.push_audio(time_of(from), std::span(samples).subspan(from, to - from));
      twice += static_cast<std::int64_t>(heard - from);
      heard = to;
    };
    for (const VideoFrame& frame : pictures.pictures) {
      push_picture(stream, frame);
      push_until(std::min(heard + random() % 3840, samples.size()));
    }
    push_until(samples.size());
    EXPECT_EQ(stream.poll().samples_dropped, twice);
    expect_same(stream.finish(), of_file);
  }
}

TEST(StreamAligner, LowLatencyTellsSoon) {
  StreamAligner stream(aligner(), {.keep = {}, .low_latency = true});
  MediaDuration longest_wait;
  std::optional<MediaTime> first_offset_at;
  push_film(stream, [&](const StreamAligner& now, MediaTime time) {
    const StreamUpdate update = now.poll();
    if (update.offset && !first_offset_at) first_offset_at = time;
    const MediaTime judged = update.judged_until.value_or(film().pictures.front().time);
    longest_wait = std::max(longest_wait, time - judged);
  });
  EXPECT_LT(longest_wait.seconds(), 4);
  ASSERT_TRUE(first_offset_at);
  EXPECT_LT(first_offset_at->seconds(), 5.5);
  const StreamUpdate update = stream.poll();
  ASSERT_EQ(update.tracks.size(), 1U);
  ASSERT_TRUE(update.offset && update.tracks[0].whole);
  EXPECT_NEAR(update.offset->ms, 120, 20);  // what the sample was made with
  EXPECT_NEAR(update.tracks[0].whole->ms, 120, 20);
  EXPECT_GT(update.tracks[0].box[2], 100);
  const Alignment whole = stream.finish();
  ASSERT_TRUE(whole.offset);
  EXPECT_NEAR(whole.offset->ms, of_the_file().offset->ms, 0.1);
}

TEST(StreamAligner, WhatIsRepeatedOrOutOfOrderIsDroppedAndCounted) {
  StreamAligner stream(aligner());
  std::size_t from = 0;
  std::int64_t pictures = 0;
  std::int64_t samples = 0;
  for (const VideoFrame& frame : film().pictures) {
    const std::size_t to = std::min(from + 640, film().sound.size());
    const std::size_t again = from - std::min<std::size_t>(from, 1000);  // heard already
    stream.push_audio(film().time_of(again), sound(again, to));
    samples += static_cast<std::int64_t>(from - again);
    from = to;
    push_picture(stream, frame);
    push_picture(stream, frame);
    push_picture(stream, film().pictures.front());
    pictures += 2;
  }
  stream.push_audio(film().time_of(from), sound(from, film().sound.size()));
  EXPECT_EQ(stream.poll().pictures_dropped, pictures);
  EXPECT_EQ(stream.poll().samples_dropped, samples);
  expect_same(stream.finish(), of_the_file());
}

TEST(StreamAligner, JitteringTimesMakeNoHoles) {
  StreamAligner stream(aligner());
  std::mt19937 random(1);
  for (std::size_t from = 0; from < film().sound.size(); from += 480) {
    const std::size_t to = std::min(from + 480, film().sound.size());
    const auto jitter = MediaDuration{static_cast<std::int64_t>(random() % 38'000) - 19'000};
    const MediaTime time = film().time_of(from);
    stream.push_audio(from == 0 ? time : time + jitter, sound(from, to));
  }
  for (const VideoFrame& frame : film().pictures) push_picture(stream, frame);
  EXPECT_EQ(stream.poll().samples_dropped, 0);
  expect_same(stream.finish(), of_the_file());
}

TEST(StreamAligner, AHoleInTheSoundIsSilence) {
  const std::size_t from = film().sound.size() / 2;
  const std::size_t to = from + 8000;
  StreamAligner with_hole(aligner());
  with_hole.push_audio(film().sound_start, sound(0, from));
  with_hole.push_audio(film().time_of(to), sound(to, film().sound.size()));
  StreamAligner with_zeros(aligner());
  with_zeros.push_audio(film().sound_start, sound(0, from));
  with_zeros.push_audio(film().time_of(from), std::vector<float>(to - from));
  with_zeros.push_audio(film().time_of(to), sound(to, film().sound.size()));
  for (StreamAligner* stream : {&with_hole, &with_zeros}) {
    for (const VideoFrame& frame : film().pictures) push_picture(*stream, frame);
  }
  expect_same(with_hole.finish(), with_zeros.finish());
}

TEST(StreamAligner, SoundThatComesFarTooLateIsDropped) {
  AlignerOptions options;
  options.max_interleave = MediaDuration::from_seconds(1);
  const Aligner impatient(options);
  StreamAligner stream(impatient);
  for (const VideoFrame& frame : film().pictures) push_picture(stream, frame);
  stream.push_audio(film().sound_start, film().sound);
  const double dropped_s = static_cast<double>(stream.poll().samples_dropped) / 16000;
  EXPECT_NEAR(dropped_s, kLengthS - 2, 1.1);  // all but about the last one to two seconds
  EXPECT_NO_THROW(stream.finish());
}

// Each time the resampler's last samples are too late as well.
TEST(StreamAligner, SoundOfTheHostsRateMayStayAwayAgainAndAgain) {
  AlignerOptions options;
  options.max_interleave = MediaDuration::from_seconds(1);
  const Aligner impatient(options);
  StreamAligner stream(impatient, {.keep = {}, .sample_rate_hz = 1000});
  const Tensor<std::uint8_t> grey(Shape{32, 32});
  const std::vector<float> samples(200);
  for (int tick = 0; tick < 24'000; ++tick) {
    const MediaTime time{tick * 40'000};
    stream.push_video(time, grey.view());
    if (tick % 75 != 0) continue;
    ASSERT_NO_THROW(stream.push_audio(time, samples)) << tick;
  }
  EXPECT_EQ(stream.finish().status, AlignmentStatus::kNoFace);
}

TEST(StreamAligner, ForgetsOldResultsButNotTheirEvidence) {
  StreamAligner stream(aligner(), {.keep = MediaDuration::from_seconds(4)});
  for (int round = 0; round < 3; ++round) {  // the film again and again
    const MediaDuration later = MediaDuration::from_seconds(kLengthS) * round;
    stream.push_audio(film().sound_start + later, sound(0, 96000));
    for (const VideoFrame& frame : film().pictures) {
      stream.push_video(frame.time + later, frame.luma.view());
    }
  }
  const Alignment answer = stream.finish();
  ASSERT_EQ(answer.status, AlignmentStatus::kMeasured);
  EXPECT_NEAR(answer.offset->ms, 120, 12);
  ASSERT_FALSE(answer.attention.empty());
  EXPECT_GT(answer.attention.front().t.seconds(), 3 * kLengthS - 9);
  EXPECT_LE(answer.attention.size(), 45U);
  EXPECT_LE(answer.timeline.size(), 9U);
}

TEST(StreamAligner, NumbersThatAreNoneAreSilence) {
  std::vector<float> bad(16000, std::numeric_limits<float>::quiet_NaN());
  bad[5] = std::numeric_limits<float>::infinity();
  StreamAligner stream(aligner());
  stream.push_audio({}, bad);
  for (std::size_t i = 0; i < 25; ++i) push_picture(stream, film().pictures[i]);
  EXPECT_EQ(stream.finish().status, AlignmentStatus::kNoSpeech);
}

TEST(StreamAligner, TakesWindowsOnLargerPictures) {
  StreamAligner stream(aligner());
  for (const VideoFrame& frame : film().pictures) {
    const std::int64_t height = frame.luma.dim(0);
    const std::int64_t width = frame.luma.dim(1);
    Tensor<std::uint8_t> wide({height, width + 24});
    for (std::int64_t y = 0; y < height; ++y) {
      std::copy_n(frame.luma.data() + y * width, width, wide.data() + y * (width + 24) + 10);
    }
    stream.push_video(frame.time, {wide.data() + 10, Shape{height, width}, Shape{width + 24, 1}});
  }
  stream.push_audio(film().sound_start, film().sound);
  expect_same(stream.finish(), of_the_file());
}

TEST(StreamAligner, SaysWhatNeverCame) {
  EXPECT_EQ(StreamAligner(aligner()).finish().status, AlignmentStatus::kNoVideo);
  StreamAligner silent(aligner());
  for (std::size_t i = 0; i < 25; ++i) push_picture(silent, film().pictures[i]);
  EXPECT_EQ(silent.finish().status, AlignmentStatus::kNoAudio);
}

TEST(StreamAligner, RefusesWhatMakesNoSense) {
  StreamAligner stream(aligner());
  const Tensor<std::uint8_t> colour({8, 8, 3});
  EXPECT_THROW(stream.push_video({}, colour.view()), Error);
  EXPECT_THROW(StreamAligner(aligner(), {.keep = MediaDuration::from_seconds(1)}), Error);
  EXPECT_THROW(StreamAligner(aligner(), {.keep = {}, .sample_rate_hz = 0}), Error);
  stream.finish();
  EXPECT_THROW(stream.push_video({}, film().pictures[0].luma.view()), Error);
  EXPECT_THROW(stream.push_audio({}, film().sound), Error);
  EXPECT_THROW(stream.finish(), Error);
  EXPECT_TRUE(stream.poll().tracks.empty());
}

}  // namespace
}  // namespace av_fusion
