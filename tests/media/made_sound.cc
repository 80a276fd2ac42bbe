// Copyright 2026 The av_fusion authors. SPDX-License-Identifier: Apache-2.0
#include "made_sound.h"

#include <cmath>
#include <numbers>
#include <random>

#include "media_test_util.h"

namespace av_fusion {
namespace {

constexpr double kRate = AudioClip::kSampleRateHz;

std::vector<float> silence(double seconds) {
  return std::vector<float>(static_cast<std::size_t>(std::lround(seconds * kRate)));
}

// A note of six partials that dies away.
void add_note(std::vector<float>& sound, double start_s, double hz, double decay_s, double gain) {
  const auto from = static_cast<std::size_t>(start_s * kRate);
  for (std::size_t i = from; i < sound.size(); ++i) {
    const double t = static_cast<double>(i - from) / kRate;
    if (t > 5 * decay_s) break;
    double wave = 0;
    for (int k = 1; k <= 6; ++k) wave += std::sin(2 * std::numbers::pi * hz * k * t) / k;
    sound[i] += static_cast<float>(gain * wave * std::min(t / 0.01, 1.0) * std::exp(-t / decay_s));
  }
}

void add_drum(std::vector<float>& sound, double start_s, double decay_s, double gain,
              std::mt19937& random) {
  std::uniform_real_distribution<double> noise(-1, 1);
  const auto from = static_cast<std::size_t>(start_s * kRate);
  for (std::size_t i = from; i < sound.size(); ++i) {
    const double t = static_cast<double>(i - from) / kRate;
    if (t > 5 * decay_s) break;
    sound[i] += static_cast<float>(gain * noise(random) * std::exp(-t / decay_s));
  }
}

}  // namespace

std::vector<float> with_level(std::vector<float> sound) {
  double power = 0;
  for (const float x : sound) power += static_cast<double>(x) * x;
  return scaled(std::move(sound), 0.1 / std::sqrt(power / static_cast<double>(sound.size())));
}

std::vector<float> scaled(std::vector<float> sound, double gain) {
  for (float& x : sound) x = static_cast<float>(x * gain);
  return sound;
}

std::vector<float> sum_of(const std::vector<float>& a, const std::vector<float>& b) {
  std::vector<float> sum(std::min(a.size(), b.size()));
  for (std::size_t i = 0; i < sum.size(); ++i) sum[i] = a[i] + b[i];
  return sum;
}

// A bar of four chords over a bass, a snare on every second beat and a cymbal on every half.
std::vector<float> made_music(double seconds, double beats_per_minute) {
  constexpr double kRoots[] = {220, 174.61, 261.63, 196};
  std::mt19937 random(7);
  std::vector<float> sound = silence(seconds);
  const double beat_s = 60 / beats_per_minute;
  for (int half = 0; half * beat_s / 2 < seconds; ++half) {
    const double at = half * beat_s / 2;
    const double root = kRoots[half / 8 % 4];
    add_drum(sound, at, 0.02, 0.2, random);
    if (half % 4 == 2) add_drum(sound, at, 0.06, 0.5, random);
    if (half % 2 == 0) add_note(sound, at, root / 4, 0.4, 0.4);
    if (half % 8 == 0) {
      for (const double ratio : {1.0, 1.25, 1.5}) add_note(sound, at, root * ratio, 1.5, 0.2);
    }
  }
  return with_level(std::move(sound));
}

std::vector<float> made_noise(double seconds, unsigned seed) {
  std::mt19937 random(seed);
  std::normal_distribution<float> noise;
  std::vector<float> sound = silence(seconds);
  for (float& x : sound) x = noise(random);
  return with_level(std::move(sound));
}

std::vector<float> sample_speech(double seconds) {
  MediaReader::Options options;
  options.decode_video = false;
  const std::vector<float> once =
      decode(AV_FUSION_ASSETS_DIR "/samples/talking_face.mp4", options).samples();
  std::vector<float> sound = silence(seconds);
  for (std::size_t i = 0; i < sound.size(); ++i) sound[i] = once.at(i % once.size());
  return with_level(std::move(sound));
}

}  // namespace av_fusion
