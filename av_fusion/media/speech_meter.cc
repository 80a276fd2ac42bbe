// Copyright 2026 The av_fusion authors. SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <numbers>

#include "av_fusion/media/audio_clip.h"
#include "av_fusion/media/speech_meter_internal.h"

namespace av_fusion {
namespace {

constexpr double kPi = std::numbers::pi;
constexpr int kFrameSamples = AudioClip::kSampleRateHz * SpeechMeter::kFrameMs / 1000;
constexpr double kFrameS = SpeechMeter::kFrameMs / 1000.0;
constexpr std::array<double, 5> kCentresHz = {250, 500, 1000, 2000, 4000};
constexpr double kLowestHz = 2;
constexpr double kHighestHz = 8;
constexpr double kSilence = 1e-6;    // mean square, -60 dB
constexpr double kLoud = 1e-3;       // of the loudest frame, -30 dB
constexpr double kFaintBand = 1e-5;  // of all bands, -50 dB: says nothing about the sound
constexpr double kSmallest = 1e-15;  // keeps the logarithm finite
constexpr std::size_t kFewestFrames = 100;

// A band-pass of one octave: transposed from the analogue s / (s^2 + s / Q + 1) with Q = sqrt(2) by
// the bilinear transform; gain 1 at the centre.
struct Coefficients {
  double gain = 0;  // of x[n] - x[n - 2]
  double a1 = 0;
  double a2 = 0;
};

Coefficients octave_at(double centre_hz) {
  const double w = 2 * kPi * centre_hz / AudioClip::kSampleRateHz;
  const double alpha = std::sin(w) / (2 * std::numbers::sqrt2);
  return {alpha / (1 + alpha), -2 * std::cos(w) / (1 + alpha), (1 - alpha) / (1 + alpha)};
}

const std::array<Coefficients, 5>& coefficients() {
  static const auto kAll = [] {
    std::array<Coefficients, 5> all;
    std::transform(kCentresHz.begin(), kCentresHz.end(), all.begin(), &octave_at);
    return all;
  }();
  return kAll;
}

// |sum of values[n] exp(-i w n)|^2, by Goertzel's recursion.
double power_at(double w, const std::vector<double>& values) {
  const double twice_cos = 2 * std::cos(w);
  double s1 = 0;
  double s2 = 0;
  for (const double value : values) {
    const double s0 = value + twice_cos * s1 - s2;
    s2 = s1;
    s1 = s0;
  }
  return s1 * s1 + s2 * s2 - twice_cos * s1 * s2;
}

}  // namespace

void SpeechMeter::add(std::span<const float> samples) {
  const std::array<Coefficients, kBands>& all = coefficients();
  for (const float sample : samples) {
    if (frames_.size() == kMaxFrames) return;
    const double x = sample;
    for (std::size_t band = 0; band < kBands; ++band) {
      Filter& f = filters_[band];
      const Coefficients& c = all[band];
      const double y = c.gain * (x - f.x2) - c.a1 * f.y1 - c.a2 * f.y2 + 1e-30;  // no denormals
      f = {x, f.x1, y, f.y1};
      sums_[band] += y * y;
    }
    if (++count_ < kFrameSamples) continue;
    for (double& sum : sums_) sum /= kFrameSamples;
    frames_.push_back(sums_);
    sums_ = {};
    count_ = 0;
  }
}

double SpeechMeter::sum(const Bands& frame) {
  double result = 0;
  for (const double band : frame) result += band;
  return result;
}

bool SpeechMeter::sounds(std::size_t i) const { return sum(frames_[i]) > kSilence; }

double SpeechMeter::power(std::size_t first) const {
  double result = 0;
  for (std::size_t band = 0; band < kBands; ++band) result += band_power(band, first);
  return result;
}

double SpeechMeter::band_power(std::size_t band, std::size_t first) const {
  if (first >= frames_.size()) return 0;
  double result = 0;
  for (std::size_t i = first; i < frames_.size(); ++i) result += frames_[i][band];
  return result / static_cast<double>(frames_.size() - first);
}

double SpeechMeter::loud_share(std::size_t first) const {
  if (first >= frames_.size()) return 0;
  double loudest = kSilence;
  for (std::size_t i = first; i < frames_.size(); ++i) loudest = std::max(loudest, sum(frames_[i]));
  std::size_t count = 0;
  for (std::size_t i = first; i < frames_.size(); ++i) {
    if (sum(frames_[i]) >= kLoud * loudest) ++count;
  }
  return static_cast<double>(count) / static_cast<double>(frames_.size() - first);
}

double SpeechMeter::speech_db(std::size_t first) const {
  if (frames_.size() < first + kFewestFrames) return kNone;
  const double all = power(first);
  if (all < kSilence / 10) return kNone;
  double sum_db = 0;
  int count = 0;
  for (std::size_t band = 0; band < kBands; ++band) {
    if (band_power(band, first) < kFaintBand * all) continue;
    sum_db += modulation_db(band, first);
    ++count;
  }
  return sum_db / count;
}

double SpeechMeter::modulation_db(std::size_t band, std::size_t first) const {
  std::vector<double> envelope;
  envelope.reserve(frames_.size() - first);
  double mean = 0;
  for (std::size_t i = first; i < frames_.size(); ++i) {
    envelope.push_back(std::cbrt(frames_[i][band]));
    mean += envelope.back();
  }
  const auto length = static_cast<double>(envelope.size());
  mean /= length;
  double window_power = 0;
  for (std::size_t i = 0; i < envelope.size(); ++i) {
    const double window = 0.5 - 0.5 * std::cos(2 * kPi * (static_cast<double>(i) + 0.5) / length);
    envelope[i] = (envelope[i] / mean - 1) * window;
    window_power += window * window;
  }
  // The power in the range if every frequency in it had the density of the geometric mean.
  const double scale = 2 * kFrameS / window_power * (kHighestHz - kLowestHz);
  const double resolution_hz = 1 / (length * kFrameS);
  double sum_log = 0;
  int count = 0;
  for (double hz = std::ceil(kLowestHz / resolution_hz) * resolution_hz; hz <= kHighestHz;
       hz += resolution_hz, ++count) {
    sum_log += std::log10(scale * power_at(2 * kPi * hz * kFrameS, envelope) + kSmallest);
  }
  return 10 * sum_log / count;
}

}  // namespace av_fusion
