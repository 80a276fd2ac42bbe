// Copyright 2026 The av_fusion authors. SPDX-License-Identifier: Apache-2.0
#include "av_fusion/features/speech_activity.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <deque>
#include <utility>

#include "av_fusion/core/error.h"
#include "av_fusion/features/log_mel.h"

namespace av_fusion {
namespace {

constexpr std::int64_t kSmooth = 2;        // frames on each side of the mean level
constexpr std::int64_t kFluxDistance = 4;  // frames between two spectra that are compared
constexpr std::int64_t kContext = 50;      // frames on each side of a decision
constexpr std::int64_t kBefore = 10;       // frames added before speech
constexpr std::int64_t kAfter = 15;        // frames added after speech
constexpr float kMinLevelDb = -60;
constexpr float kMinSpanDb = 6;
constexpr float kLoudShare = 0.35F;
constexpr float kMinFlux = 0.1F;  // mean change of a band within 40 ms, natural log
constexpr float kSilence = 1e-10F;
constexpr float kNoSound = -1000;  // power and level of frames that are not valid

using Spectrum = std::array<float, LogMelExtractor::kBands>;

// Mean square of the signal: the bands add up to 256 times that (see log_mel.h).
float power_of(const Spectrum& spectrum) {
  float sum = 0;
  for (const float band : spectrum) sum += std::exp(band) - 1e-8F;
  return std::max(sum / 256, kSilence);
}

// Mean change of the bands when the change of the level is taken out.
float flux_between(const Spectrum& a, const Spectrum& b) {
  float mean = 0;
  for (std::size_t i = 0; i < a.size(); ++i) mean += b[i] - a[i];
  mean /= static_cast<float>(a.size());
  float sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += std::abs(b[i] - a[i] - mean);
  return sum / static_cast<float>(a.size());
}

float percentile(std::vector<float>& values, double share) {
  const auto at = static_cast<std::ptrdiff_t>(share * static_cast<double>(values.size() - 1));
  std::nth_element(values.begin(), values.begin() + at, values.end());
  return values[static_cast<std::size_t>(at)];
}

// A run of values by absolute index, of which the old ones are forgotten.
template <typename T>
struct History {
  std::deque<T> values;
  std::int64_t begin = 0;

  std::int64_t end() const { return begin + static_cast<std::int64_t>(values.size()); }
  const T& operator[](std::int64_t index) const {
    return values[static_cast<std::size_t>(index - begin)];
  }
  void forget_before(std::int64_t index) {
    for (; begin < index && !values.empty(); ++begin) values.pop_front();
  }
};

}  // namespace

struct SpeechActivity::Impl {
  bool finished = false;
  std::deque<Spectrum> last_spectra;  // kFluxDistance at most
  float last_power = 0;               // of the last of these
  std::int64_t repeats = 0;           // how often the last of these has come again
  History<float> power;               // of each frame
  History<float> flux;                // of each frame
  History<float> level;               // dB, smoothed
  History<std::uint8_t> loud;         // decision without the time added around
  std::int64_t decided = 0;
  std::vector<std::uint8_t> ready;
  std::vector<float> scratch;

  void add(const Spectrum& spectrum);
  void add_missing();
  void advance();
  void add_level(std::int64_t frame);
  bool is_loud(std::int64_t frame);
  bool is_speech(std::int64_t frame) const;
};

void SpeechActivity::Impl::add(const Spectrum& spectrum) {
  // Silence repeats itself, and may do so for hours.
  const bool same = !last_spectra.empty() && spectrum == last_spectra.back();
  repeats = same ? repeats + 1 : 0;
  if (!same) last_power = power_of(spectrum);
  power.values.push_back(last_power);
  if (repeats >= kFluxDistance) {  // so are all that are kept
    flux.values.push_back(0);
    return;
  }
  const bool enough = last_spectra.size() == static_cast<std::size_t>(kFluxDistance);
  flux.values.push_back(enough ? flux_between(last_spectra.front(), spectrum) : 0.0F);
  if (enough) last_spectra.pop_front();
  last_spectra.push_back(spectrum);
}

void SpeechActivity::Impl::add_missing() {
  flux.values.push_back(0);
  last_spectra.clear();
  power.values.push_back(kNoSound);
}

void SpeechActivity::Impl::add_level(std::int64_t frame) {
  float sum = 0;
  int count = 0;
  for (std::int64_t i = std::max<std::int64_t>(0, frame - kSmooth);
       i < std::min(frame + kSmooth + 1, power.end()); ++i) {
    if (power[i] == kNoSound) continue;
    sum += power[i];
    ++count;
  }
  const bool missing = power[frame] == kNoSound;
  level.values.push_back(missing ? kNoSound : 10 * std::log10(sum / static_cast<float>(count)));
}

bool SpeechActivity::Impl::is_loud(std::int64_t frame) {
  if (level[frame] < kMinLevelDb) return false;
  const std::int64_t from = std::max<std::int64_t>(0, frame - kContext);
  const std::int64_t to = std::min(frame + kContext + 1, level.end());
  scratch.clear();
  for (std::int64_t i = from; i < to; ++i) {
    if (level[i] != kNoSound) scratch.push_back(std::max(level[i], kMinLevelDb - 20));
  }
  const float low = percentile(scratch, 0.1);
  const float high = percentile(scratch, 0.9);
  const float threshold = low + kLoudShare * (high - low);
  if (high - low < kMinSpanDb || level[frame] < threshold) return false;
  scratch.clear();
  for (std::int64_t i = from; i < to; ++i) {
    if (level[i] >= threshold) scratch.push_back(flux[i]);
  }
  return percentile(scratch, 0.5) >= kMinFlux;
}

bool SpeechActivity::Impl::is_speech(std::int64_t frame) const {
  for (std::int64_t i = std::max(loud.begin, frame - kAfter);
       i < std::min(frame + kBefore + 1, loud.end()); ++i) {
    if (loud[i] != 0) return true;
  }
  return false;
}

void SpeechActivity::Impl::advance() {
  const std::int64_t frames = power.end();
  while (level.end() < frames && (finished || level.end() + kSmooth < frames)) {
    add_level(level.end());
  }
  while (loud.end() < level.end() && (finished || loud.end() + kContext < level.end())) {
    loud.values.push_back(is_loud(loud.end()) ? 1 : 0);
  }
  while (decided < loud.end() && (finished || decided + kBefore < loud.end())) {
    ready.push_back(is_speech(decided++) ? 1 : 0);
  }
  power.forget_before(level.end() - kSmooth);
  level.forget_before(loud.end() - kContext);
  flux.forget_before(loud.end() - kContext);
  loud.forget_before(decided - kAfter);
}

SpeechActivity::SpeechActivity() : impl_(std::make_unique<Impl>()) {}
SpeechActivity::~SpeechActivity() = default;
SpeechActivity::SpeechActivity(SpeechActivity&&) noexcept = default;
SpeechActivity& SpeechActivity::operator=(SpeechActivity&&) noexcept = default;

void SpeechActivity::push(const FeatureSequence<float>& mel) {
  expect_shape(mel.values.shape(), Shape{kAny, LogMelExtractor::kBands}, "speech activity: mel");
  expect_shape(Shape{static_cast<std::int64_t>(mel.valid.size())}, Shape{mel.length()},
               "speech activity: valid");
  if (impl_->finished) {
    throw Error(ErrorCode::kInvalidArgument, "speech activity", "frames came after the end");
  }
  Spectrum spectrum;
  for (std::int64_t i = 0; i < mel.length(); ++i) {
    const float* row = mel.values.data() + i * LogMelExtractor::kBands;
    std::copy_n(row, spectrum.size(), spectrum.begin());
    if (mel.valid[static_cast<std::size_t>(i)] == 0) {
      impl_->add_missing();
    } else {
      impl_->add(spectrum);
    }
    impl_->advance();
  }
}

void SpeechActivity::finish() {
  impl_->finished = true;
  impl_->advance();
}

std::vector<std::uint8_t> SpeechActivity::take_ready() { return std::exchange(impl_->ready, {}); }

}  // namespace av_fusion
