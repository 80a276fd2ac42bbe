// Copyright 2026 The av_fusion authors. SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <numbers>

#include "av_fusion/media/speech_meter_internal.h"
#include "made_sound.h"

namespace av_fusion {
namespace {

constexpr double kPi = std::numbers::pi;

double speech_db(const std::vector<float>& sound) {
  SpeechMeter meter;
  meter.add(sound);
  return meter.speech_db(0);
}

// The envelope of one band: the difference equation of the band-pass (Q = sqrt 2), as written in
// textbooks, then cube roots of means.
std::vector<double> plain_envelope(const std::vector<float>& x, double centre_hz) {
  const double w = 2 * kPi * centre_hz / 16000;
  const double alpha = std::sin(w) / (2 * std::sqrt(2.0));
  std::vector<double> y(x.size());
  for (std::size_t n = 2; n < x.size(); ++n) {
    y[n] = (alpha * x[n] - alpha * x[n - 2] + 2 * std::cos(w) * y[n - 1] - (1 - alpha) * y[n - 2]) /
           (1 + alpha);
  }
  std::vector<double> envelope;
  for (std::size_t n = 0; n + 160 <= y.size(); n += 160) {
    double sum = 0;
    for (std::size_t i = n; i < n + 160; ++i) sum += y[i] * y[i];
    envelope.push_back(std::cbrt(sum / 160));
  }
  return envelope;
}

double plain_speech_db(const std::vector<float>& sound) {
  double total_db = 0;
  for (const double centre_hz : {250.0, 500.0, 1000.0, 2000.0, 4000.0}) {
    const std::vector<double> envelope = plain_envelope(sound, centre_hz);
    const std::size_t length = envelope.size();
    double mean = 0;
    for (const double value : envelope) mean += value / static_cast<double>(length);
    double log_sum = 0;
    int count = 0;
    for (std::size_t k = 1; k < length / 2; ++k) {
      const double hz = static_cast<double>(k) * 100 / static_cast<double>(length);
      if (hz < 2 || hz > 8) continue;
      std::complex<double> sum = 0;
      double window_power = 0;
      for (std::size_t n = 0; n < length; ++n) {
        const double phase = 2 * kPi / static_cast<double>(length);
        const double window = std::pow(std::sin(phase / 2 * (static_cast<double>(n) + 0.5)), 2);
        sum += window * (envelope[n] / mean - 1) *
               std::polar(1.0, -phase * static_cast<double>(k * n));
        window_power += window * window;
      }
      log_sum += std::log10(2 * 0.01 * std::norm(sum) / window_power * 6);  // 6 Hz wide
      ++count;
    }
    total_db += 10 * log_sum / count;
  }
  return total_db / 5;
}

TEST(SpeechMeterTest, AgreesWithThePlainFormula) {
  std::vector<float> sound = made_noise(4, 1);
  for (std::size_t i = 0; i < sound.size(); ++i) {
    const double t = static_cast<double>(i) / 16000;
    sound[i] *= static_cast<float>(1 + 0.8 * std::sin(2 * kPi * 3.3 * t) * std::sin(9 * t));
  }
  sound[0] = sound[1] = 0;
  EXPECT_NEAR(speech_db(sound), plain_speech_db(sound), 1e-3);
}

TEST(SpeechMeterTest, SpeechIsFarAboveMusicAndNoise) {
  EXPECT_GT(speech_db(sample_speech(10)), -10);
  for (const double beats : {70, 100, 118, 150}) {
    EXPECT_LT(speech_db(made_music(20, beats)), -18) << beats;
  }
  EXPECT_LT(speech_db(made_noise(20, 2)), -25);
}

TEST(SpeechMeterTest, FallsWithWhatIsAdded) {
  const std::vector<float> speech = sample_speech(20);
  const std::vector<float> music = made_music(20, 118);
  double last = speech_db(speech);
  for (const double music_db : {-10, -5, 0, 5, 10}) {
    const double db = speech_db(sum_of(speech, scaled(music, std::pow(10, music_db / 20))));
    EXPECT_LT(db, last - 0.5) << music_db;
    last = db;
  }
}

TEST(SpeechMeterTest, DoesNotDependOnTheLevel) {
  const std::vector<float> speech = sample_speech(10);
  EXPECT_NEAR(speech_db(scaled(speech, 0.1)), speech_db(speech), 1e-3);
}

TEST(SpeechMeterTest, DoesNotDependOnHowTheSoundIsCut) {
  const std::vector<float> speech = sample_speech(5);
  SpeechMeter meter;
  const std::span<const float> all(speech);
  for (std::size_t at = 0, step = 1; at < all.size(); at += step, step = step * 7 % 1009 + 1) {
    meter.add(all.subspan(at, std::min(step, all.size() - at)));
  }
  EXPECT_EQ(meter.frames(), 500U);
  EXPECT_EQ(meter.speech_db(0), speech_db(speech));
}

TEST(SpeechMeterTest, SilenceAndABangAreNoSpeech) {
  EXPECT_EQ(speech_db(std::vector<float>(160000)), SpeechMeter::kNone);
  EXPECT_EQ(speech_db(made_noise(0.9, 3)), SpeechMeter::kNone);
  std::vector<float> bang(160000);
  const std::vector<float> noise = made_noise(0.2, 4);
  std::copy(noise.begin(), noise.end(), bang.begin() + 50000);
  SpeechMeter meter;
  meter.add(bang);
  EXPECT_LT(meter.loud_share(0), 0.05);
  SpeechMeter speaker;
  speaker.add(sample_speech(10));
  EXPECT_GT(speaker.loud_share(0), 0.4);
}

TEST(SpeechMeterTest, KeepsAMinuteAtMost) {
  SpeechMeter meter;
  const std::vector<float> noise = made_noise(10, 5);
  for (int i = 0; i < 10; ++i) meter.add(noise);
  EXPECT_EQ(meter.frames(), SpeechMeter::kMaxFrames);
}

}  // namespace
}  // namespace av_fusion
