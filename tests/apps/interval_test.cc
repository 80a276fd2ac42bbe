// Copyright 2026 The av_fusion authors. SPDX-License-Identifier: Apache-2.0
// The interval says how much is known: more speech narrows it, noise widens it.
#include <gtest/gtest.h>

#include <cmath>
#include <cstddef>
#include <random>
#include <span>
#include <vector>

#include "av_fusion/media/audio_clip.h"
#include "av_fusion/stream_aligner.h"
#include "tests/apps/film.h"

namespace av_fusion {
namespace {

using test::Film;

constexpr double kTruthMs = 120;  // what the sample was made with

const Film& film() {
  static const Film kFilm = test::read_film(AV_FUSION_ASSETS_DIR "/samples/talking_face.mp4",
                                            MediaDuration::from_seconds(9));
  return kFilm;
}

/// What is known after `seconds` of the film with the sound `sound`.
Offset measured(double seconds, const std::vector<float>& sound) {
  static const Aligner kAligner;
  StreamAligner stream(kAligner);
  stream.push_audio(
      film().sound_start,
      std::span(sound).first(static_cast<std::size_t>(seconds * AudioClip::kSampleRateHz)));
  for (const VideoFrame& frame : film().pictures) {
    if (frame.time.seconds() < seconds) stream.push_video(frame.time, frame.luma.view());
  }
  const Alignment answer = stream.finish();
  EXPECT_TRUE(answer.offset) << answer.reason;
  return answer.offset.value_or(Offset{});
}

double width_ms(const Offset& offset) { return offset.high_ms - offset.low_ms; }

/// White noise of the power of the film's sound less `snr_db`, added to it.
std::vector<float> with_noise(double snr_db, unsigned seed) {
  std::vector<float> sound = film().sound;
  double power = 0;
  for (const float x : sound) power += static_cast<double>(x) * x;
  const double rms = std::sqrt(power / static_cast<double>(sound.size()));
  const double level = rms * std::pow(10, -snr_db / 20);
  std::mt19937 random(seed);
  for (float& x : sound) {
    double sum = -6;  // about normal, and the same with every standard library
    for (int i = 0; i < 12; ++i) sum += static_cast<double>(random()) / 4294967296.0;
    x += static_cast<float>(level * sum);
  }
  return sound;
}

void expect_truth_inside(const Offset& offset) {
  EXPECT_LE(offset.low_ms, kTruthMs);
  EXPECT_GE(offset.high_ms, kTruthMs);
}

TEST(Interval, ShrinksWithMoreSpeech) {
  double before = 1e9;
  for (const double seconds : {2.0, 4.0, 9.0}) {
    const Offset offset = measured(seconds, film().sound);
    EXPECT_LT(width_ms(offset), before) << seconds << " s";
    expect_truth_inside(offset);
    before = width_ms(offset);
  }
}

TEST(Interval, WidensWithNoise) {
  double before = 0;
  for (const double snr_db : {20.0, 10.0, 5.0, 0.0}) {
    double width = 0;
    for (unsigned seed = 1; seed <= 4; ++seed) {
      const Offset offset = measured(9, with_noise(snr_db, seed));
      expect_truth_inside(offset);
      width += width_ms(offset) / 4;
    }
    EXPECT_GT(width, before) << snr_db << " dB";
    before = width;
  }
}

}  // namespace
}  // namespace av_fusion
