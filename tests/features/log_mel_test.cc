// Copyright 2026 The av_fusion authors. SPDX-License-Identifier: Apache-2.0
#include "av_fusion/features/log_mel.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <numbers>
#include <random>
#include <span>
#include <vector>

#include "av_fusion/core/error.h"

namespace av_fusion {
namespace {

constexpr double kPi = std::numbers::pi;
constexpr int kBands = LogMelExtractor::kBands;

// The text of log_mel.h in plain loops of doubles.
double mel(double hz) { return 2595 * std::log10(1 + hz / 700); }
double hz_of_edge(int i) {
  const double m = mel(60) + (mel(7600) - mel(60)) * i / 81;
  return 700 * (std::pow(10, m / 2595) - 1);
}
double triangle(int band, double hz) {
  const double left = hz_of_edge(band), top = hz_of_edge(band + 1), right = hz_of_edge(band + 2);
  if (hz <= left || hz >= right) return 0;
  return hz < top ? (hz - left) / (top - left) : (right - hz) / (right - top);
}
double window_at(int n) { return 0.5 - 0.5 * std::cos(2 * kPi * n / 400); }
double window_square() {
  double sum = 0;
  for (int n = 0; n < 400; ++n) sum += window_at(n) * window_at(n);
  return sum;
}

// The frame centred at sample `centre` of `samples`; what is outside is silence.
std::vector<double> reference_frame(const std::vector<float>& samples, std::int64_t centre) {
  std::vector<double> power;
  for (int k = 0; k <= 256; ++k) {
    std::complex<double> sum = 0;
    for (int n = 0; n < 400; ++n) {
      const std::int64_t at = centre - 200 + n;
      if (at < 0 || at >= static_cast<std::int64_t>(samples.size())) continue;
      sum += window_at(n) * static_cast<double>(samples[static_cast<std::size_t>(at)]) *
             std::polar(1.0, -2 * kPi * k * n / 512);
    }
    power.push_back(std::norm(sum) / window_square());
  }
  std::vector<double> bands;
  for (int b = 0; b < kBands; ++b) {
    double sum = 0;
    for (int k = 0; k <= 256; ++k)
      sum += triangle(b, k * 31.25) * power[static_cast<std::size_t>(k)];
    bands.push_back(std::log(1e-8 + sum));
  }
  return bands;
}

std::vector<float> make_sound(std::size_t count, unsigned seed = 1) {
  std::mt19937 random(seed);
  std::normal_distribution<float> noise(0.0F, 0.05F);
  std::vector<float> samples(count);
  for (std::size_t i = 0; i < count; ++i) {
    const double t = static_cast<double>(i) / 16000;
    samples[i] = noise(random) + static_cast<float>(0.2 * std::sin(2 * kPi * (300 + 900 * t) * t));
  }
  return samples;
}

// Time of sample `index` as a reader gives it, rounded to microseconds.
MediaTime time_of(std::int64_t index, MediaTime start = {}) {
  return start + MediaDuration{std::llround(static_cast<double>(index) * 62.5)};
}

AudioClip cut(const std::vector<float>& samples, std::size_t from, std::size_t count,
              MediaTime start = {}) {
  const auto begin = samples.begin() + static_cast<std::ptrdiff_t>(from);
  return {time_of(static_cast<std::int64_t>(from), start),
          {begin, begin + static_cast<std::ptrdiff_t>(count)}};
}

FeatureSequence<float> all_at_once(const std::vector<float>& samples, const Timeline& timeline,
                                   MediaTime until, MediaTime start = {}) {
  LogMelExtractor extractor(timeline);
  extractor.push({start, samples});
  extractor.finish(until);
  return extractor.take_ready();
}

const float* row(const FeatureSequence<float>& mel, std::int64_t i) {
  return mel.values.data() + i * kBands;
}

TEST(LogMel, EqualsAPlainLoopOfDoubles) {
  const std::vector<float> samples = make_sound(4000);
  const auto mel = all_at_once(samples, {{0}, LogMelExtractor::kHop}, {250'000});
  ASSERT_EQ(mel.length(), 26);
  for (std::int64_t i = 0; i < mel.length(); ++i) {
    const std::vector<double> expected = reference_frame(samples, i * 160);
    for (std::size_t b = 0; b < kBands; ++b) {
      ASSERT_NEAR(row(mel, i)[b], expected[b], 2e-4) << "frame " << i << " band " << b;
    }
  }
}

TEST(LogMel, NoBandIsEmpty) {
  for (int b = 0; b < kBands; ++b) {
    double sum = 0;
    for (int k = 0; k <= 256; ++k) sum += triangle(b, k * 31.25);
    EXPECT_GT(sum, 0.01) << b;
  }
}

TEST(LogMel, WhiteNoiseHasItsVarianceAsMeanPower) {
  std::mt19937 random(5);
  std::normal_distribution<float> noise(0.0F, 0.1F);
  std::vector<float> samples(160000);
  for (float& sample : samples) sample = noise(random);
  const auto mel = all_at_once(samples, {{20'000}, LogMelExtractor::kHop}, {9'900'000});
  double weights = 0, sum = 0;
  for (int k = 0; k <= 256; ++k) weights += triangle(70, k * 31.25);
  for (std::int64_t i = 0; i < mel.length(); ++i) sum += std::exp(double(row(mel, i)[70]));
  EXPECT_NEAR(sum / double(mel.length()) / weights, 0.01, 0.0005);
}

TEST(LogMel, AnyCutGivesTheSameBits) {
  const std::vector<float> samples = make_sound(40000);
  const MediaTime start{1'234'567};
  const Timeline timeline{{1'000'003}, LogMelExtractor::kHop};
  const MediaTime until{4'000'000};
  const auto whole = all_at_once(samples, timeline, until, start);
  std::mt19937 random(2);
  for (const std::size_t longest : {1U, 3U, 160U, 999U, 20000U}) {
    LogMelExtractor extractor(timeline);
    std::vector<float> values;
    std::vector<std::uint8_t> valid;
    const auto take = [&] {
      const auto part = extractor.take_ready();
      EXPECT_EQ(part.timeline.start, timeline.at(static_cast<std::int64_t>(valid.size())));
      values.insert(values.end(), part.values.elements().begin(), part.values.elements().end());
      valid.insert(valid.end(), part.valid.begin(), part.valid.end());
    };
    for (std::size_t at = 0; at < samples.size();) {
      const std::size_t count = std::min(1 + random() % longest, samples.size() - at);
      extractor.push(cut(samples, at, count, start));
      at += count;
      if (random() % 3 == 0) take();
    }
    extractor.finish(until);
    take();
    ASSERT_EQ(values.size(), static_cast<std::size_t>(whole.values.num_elements()));
    EXPECT_TRUE(std::equal(values.begin(), values.end(), whole.values.data())) << longest;
    EXPECT_EQ(valid, whole.valid);
  }
}

// The spectrum of a click is flat, with the square of the window as its level: that shows to the
// sample where each frame is centred, here three hours into a stream with odd start times.
TEST(LogMel, FramesAreCentredToTheSample) {
  const MediaTime hours{3LL * 3600 * 1'000'000 + 17};
  const MediaTime clip_start = hours + MediaDuration{3'021};
  const Timeline timeline{hours, LogMelExtractor::kHop};
  std::vector<float> samples(4000, 0.0F);
  samples[2000] = 1;
  const auto mel = all_at_once(samples, timeline, hours + MediaDuration{200'000}, clip_start);
  const std::int64_t click = std::llround(double(clip_start.us) * 0.016) + 2000;
  double weights = 0;
  for (int k = 0; k <= 256; ++k) weights += triangle(40, k * 31.25);
  int lit = 0;
  for (std::int64_t i = 0; i < mel.length(); ++i) {
    const std::int64_t centre = std::llround(double(timeline.at(i).us) * 0.016);
    const std::int64_t n = click - centre + 200;
    const double w = n >= 0 && n < 400 ? window_at(static_cast<int>(n)) : 0;
    lit += w > 0 ? 1 : 0;
    EXPECT_NEAR(row(mel, i)[40], std::log(1e-8 + w * w * weights / window_square()), 1e-3) << i;
  }
  EXPECT_GE(lit, 2);
}

TEST(LogMel, DoesNotDriftOverManyRoundedClips) {
  const Timeline timeline{{0}, LogMelExtractor::kHop};
  LogMelExtractor extractor(timeline);
  const std::size_t kClip = 1021;  // its length is no whole number of microseconds
  const std::int64_t clips = 1000;
  for (std::int64_t i = 0; i < clips; ++i) {
    AudioClip clip{time_of(i * std::int64_t{kClip}), std::vector<float>(kClip, 0.0F)};
    if (i == clips - 1) clip.samples[500] = 1;
    extractor.push(clip);
  }
  const double click_s = double((clips - 1) * std::int64_t{kClip} + 500) / 16000;
  extractor.finish(MediaTime::from_seconds(click_s + 0.1));
  const auto mel = extractor.take_ready();
  std::int64_t loudest = 0;
  for (std::int64_t i = 1; i < mel.length(); ++i) {
    if (row(mel, i)[40] > row(mel, loudest)[40]) loudest = i;
  }
  EXPECT_NEAR(timeline.at(loudest).seconds(), click_s, 0.0051);
  const auto is_valid = [](std::uint8_t valid) { return valid == 1; };
  EXPECT_TRUE(std::all_of(mel.valid.begin() + 2, mel.valid.begin() + loudest, is_valid));
}

TEST(LogMel, HolesAndTheOutsideAreSilenceAndNotValid) {
  const std::vector<float> samples = make_sound(16000);
  LogMelExtractor extractor({{-100'000}, LogMelExtractor::kHop});
  extractor.push(cut(samples, 0, 8000));      // 0 to 0.5 s
  extractor.push(cut(samples, 11200, 4800));  // 0.7 to 1.0 s
  extractor.finish({1'200'000});
  const auto mel = extractor.take_ready();
  ASSERT_EQ(mel.length(), 131);
  for (std::int64_t i = 0; i < mel.length(); ++i) {
    const double begin = -0.1 + 0.01 * double(i) - 0.0125 + 1e-9;
    const double end = -0.1 + 0.01 * double(i) + 0.0125 - 1e-9;
    const bool inside = (begin >= 0 && end <= 0.5) || (begin >= 0.7 && end <= 1.0);
    const bool outside = end <= 0 || (begin >= 0.5 && end <= 0.7) || begin >= 1.0;
    EXPECT_EQ(mel.valid[static_cast<std::size_t>(i)], inside ? 1 : 0) << i;
    if (outside) {
      EXPECT_FLOAT_EQ(row(mel, i)[10], std::log(1e-8F)) << i;
    }
  }
}

TEST(LogMel, OverlappingClipsCountOnce) {
  const std::vector<float> samples = make_sound(16000);
  const Timeline timeline{{0}, LogMelExtractor::kHop};
  const auto whole = all_at_once(samples, timeline, {950'000});
  LogMelExtractor extractor(timeline);
  extractor.push(cut(samples, 0, 9000));
  extractor.push(cut(samples, 7000, 1000));  // nothing new
  extractor.push(cut(samples, 8000, 8000));
  extractor.finish({950'000});
  const auto mel = extractor.take_ready();
  ASSERT_EQ(mel.length(), whole.length());
  EXPECT_TRUE(std::equal(mel.values.data(), mel.values.data() + mel.values.num_elements(),
                         whole.values.data()));
}

TEST(LogMel, SoundThatNeverComesIsSilence) {
  LogMelExtractor extractor({{0}, LogMelExtractor::kHop});
  EXPECT_EQ(extractor.take_ready().length(), 0);
  extractor.finish({100'000});
  const auto mel = extractor.take_ready();
  ASSERT_EQ(mel.length(), 11);
  EXPECT_EQ(std::count(mel.valid.begin(), mel.valid.end(), 0), 11);
  for (const float value : mel.values.elements()) EXPECT_FLOAT_EQ(value, std::log(1e-8F));
}

TEST(LogMel, RefusesMisuse) {
  EXPECT_THROW(LogMelExtractor({{0}, {0}}), Error);
  LogMelExtractor extractor({{0}, LogMelExtractor::kHop});
  extractor.finish({0});
  EXPECT_THROW(extractor.push({{0}, {0.0F}}), Error);
}

}  // namespace
}  // namespace av_fusion
