// Copyright 2026 The av_fusion authors. SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdlib>

#include "av_fusion/media/audio_clip.h"
#include "av_fusion/media/ffmpeg_util_internal.h"
#include "av_fusion/media/sound_timeline_internal.h"

namespace av_fusion {
namespace {

constexpr int kOutRate = AudioClip::kSampleRateHz;
constexpr std::int64_t kSoftUs = 5'000;
constexpr std::int64_t kHardUs = 20'000;
constexpr std::int64_t kPatienceUs = 200'000;
constexpr std::int64_t kLongestSilenceUs = 10'000'000;

std::int64_t samples_in(std::int64_t us, int rate_hz) {
  return av_rescale_rnd(us, rate_hz, kMicroseconds.den, AV_ROUND_NEAR_INF);
}

std::int64_t us_of(std::int64_t samples, int rate_hz) {
  return av_rescale_rnd(samples, kMicroseconds.den, rate_hz, AV_ROUND_NEAR_INF);
}

}  // namespace

MediaTime SamplePosition::time() const { return anchor + MediaDuration{us_of(index, kOutRate)}; }

void SoundTimeline::add(std::span<const float> samples, int rate_hz, std::optional<MediaTime> time,
                        MediaDuration tick) {
  if (samples.empty() || rate_hz <= 0) return;
  if (rate_hz_ == 0) begin(rate_hz, time.value_or(MediaTime{}));
  const std::int64_t deviation_us = time ? (*time - input_clock()).us : 0;
  const std::int64_t fix_us = correction_us(deviation_us, tick.us, samples.size());
  if (fix_us > kHardUs) ++gaps_;
  if (fix_us > kLongestSilenceUs) {
    finish();
    begin(rate_hz, *time);
  } else if (fix_us > 0) {
    add_silence(samples_in(fix_us, rate_hz_));
  }
  if (rate_hz != rate_hz_) {
    const MediaTime end = input_clock();
    finish();
    begin(rate_hz, end);
  }
  const auto overlap =
      static_cast<std::size_t>(samples_in(std::max<std::int64_t>(-fix_us, 0), rate_hz));
  if (overlap < samples.size()) resample(samples.subspan(overlap));
}

void SoundTimeline::begin(int rate_hz, MediaTime anchor) {
  rate_hz_ = rate_hz;
  anchor_ = anchor;
  streak_us_ = 0;
  resampler_.emplace(rate_hz);
}

MediaTime SoundTimeline::input_clock() const {
  return anchor_ + MediaDuration{us_of(resampler_->num_samples_in(), rate_hz_)};
}

std::int64_t SoundTimeline::correction_us(std::int64_t deviation_us, std::int64_t tick_us,
                                          std::size_t samples) {
  const std::int64_t off_us = std::abs(deviation_us);
  if (off_us > std::max(kHardUs, 2 * tick_us)) {
    streak_us_ = 0;
    return deviation_us;
  }
  if (off_us <= kSoftUs + tick_us) {
    streak_us_ = 0;
    return 0;
  }
  const bool same_side = streak_us_ > 0 && (deviation_us > 0) == (streak_min_us_ > 0);
  if (!same_side) streak_us_ = 0;
  if (!same_side || off_us < std::abs(streak_min_us_)) streak_min_us_ = deviation_us;
  streak_us_ += us_of(static_cast<std::int64_t>(samples), rate_hz_);
  if (streak_us_ < kPatienceUs) return 0;
  streak_us_ = 0;
  return streak_min_us_;
}

void SoundTimeline::add_silence(std::int64_t samples) {
  const std::vector<float> silence(
      static_cast<std::size_t>(std::min<std::int64_t>(samples, rate_hz_)));
  while (samples > 0) {
    const std::int64_t count = std::min(samples, static_cast<std::int64_t>(silence.size()));
    resample({silence.data(), static_cast<std::size_t>(count)});
    samples -= count;
  }
}

void SoundTimeline::resample(std::span<const float> samples) {
  const std::int64_t index = resampler_->num_samples_out();
  hand_out(index, resampler_->push(samples));
}

void SoundTimeline::hand_out(std::int64_t index, std::span<const float> samples) {
  if (!samples.empty()) sink_({anchor_, index}, samples);
}

void SoundTimeline::finish() {
  if (!resampler_) return;
  const std::int64_t index = resampler_->num_samples_out();
  hand_out(index, resampler_->finish());
  resampler_.reset();
  rate_hz_ = 0;
}

}  // namespace av_fusion
