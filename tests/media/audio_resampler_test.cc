// Copyright 2026 The av_fusion authors. SPDX-License-Identifier: Apache-2.0
#include "av_fusion/media/audio_resampler.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numbers>
#include <random>
#include <span>
#include <vector>

#include "av_fusion/core/error.h"

namespace av_fusion {
namespace {

/// 300 and 1700 Hz, as they are at `t`.
double tone(double t) {
  return 0.4 * std::sin(2 * std::numbers::pi * 300 * t) +
         0.3 * std::cos(2 * std::numbers::pi * 1700 * t);
}

std::vector<float> tone_of(int rate_hz, std::size_t count) {
  std::vector<float> samples;
  for (std::size_t i = 0; i < count; ++i) {
    samples.push_back(static_cast<float>(tone(static_cast<double>(i) / rate_hz)));
  }
  return samples;
}

void append(std::vector<float>& all, std::span<const float> more) {
  all.insert(all.end(), more.begin(), more.end());
}

std::vector<float> resample(int rate_hz, std::span<const float> samples, std::size_t longest,
                            unsigned seed) {
  std::mt19937 random(seed);
  AudioResampler resampler(rate_hz);
  std::vector<float> all;
  for (std::size_t from = 0; from < samples.size();) {
    const std::size_t count = std::min(random() % (longest + 1), samples.size() - from);
    append(all, resampler.push(samples.subspan(from, count)));
    from += count;
  }
  append(all, resampler.finish());
  EXPECT_EQ(resampler.num_samples_in(), std::ssize(samples));
  EXPECT_EQ(resampler.num_samples_out(), std::ssize(all));
  return all;
}

TEST(AudioResampler, HasNoDelayAndLosesNothing) {
  for (const int rate_hz : {8000, 11025, 16000, 22050, 44100, 48000, 96000}) {
    SCOPED_TRACE(rate_hz);
    const auto count = static_cast<std::size_t>(rate_hz / 2 + 1);
    const std::vector<float> out = resample(rate_hz, tone_of(rate_hz, count), 4000, 1);
    EXPECT_NEAR(double(out.size()), double(count) * 16000 / rate_hz, 1);
    for (std::size_t i = 200; i + 200 < out.size(); ++i) {
      ASSERT_NEAR(out[i], tone(static_cast<double>(i) / 16000), 0.004) << i;
    }
  }
}

TEST(AudioResampler, TheCutsDoNotMatter) {
  for (const int rate_hz : {16000, 44100, 48000}) {
    const std::vector<float> samples = tone_of(rate_hz, 30'000);
    const std::vector<float> whole = resample(rate_hz, samples, samples.size(), 1);
    for (const unsigned seed : {2U, 3U}) {
      EXPECT_EQ(resample(rate_hz, samples, 50, seed), whole) << rate_hz;
      EXPECT_EQ(resample(rate_hz, samples, 3000, seed), whole) << rate_hz;
    }
  }
}

TEST(AudioResampler, RefusesOtherRates) {
  for (const int rate_hz : {-1, 0, 999, 768'001}) {
    EXPECT_THROW(AudioResampler{rate_hz}, Error) << rate_hz;
  }
  EXPECT_NO_THROW(AudioResampler{1000});
  EXPECT_NO_THROW(AudioResampler{768'000});
}

TEST(AudioResampler, NothingIsTooLoud) {
  const std::vector<float> square(4800, 8.0F);
  AudioResampler resampler(48000);
  for (const float sample : resampler.push(square)) EXPECT_LE(std::abs(sample), 8.0F);
}

}  // namespace
}  // namespace av_fusion
