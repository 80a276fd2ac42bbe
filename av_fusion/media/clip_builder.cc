// Copyright 2026 The av_fusion authors. SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <utility>

#include "av_fusion/media/clip_builder_internal.h"
#include "av_fusion/media/ffmpeg_util_internal.h"

namespace av_fusion {
namespace {

constexpr std::size_t kShortClip = AudioClip::kSampleRateHz / 10;
constexpr std::size_t kLongClip = AudioClip::kSampleRateHz;

// How many samples from `position` on lie before `time`.
std::size_t count_before(SamplePosition position, std::size_t count, MediaTime time) {
  const std::int64_t us = (time - position.anchor).us;
  const std::int64_t index =
      av_rescale_rnd(us, AudioClip::kSampleRateHz, kMicroseconds.den, AV_ROUND_UP);
  return static_cast<std::size_t>(
      std::clamp<std::int64_t>(index - position.index, 0, static_cast<std::int64_t>(count)));
}

}  // namespace

void ClipBuilder::add(SamplePosition position, std::span<const float> samples) {
  if (end_) {
    const std::size_t inside = count_before(position, samples.size(), *end_);
    past_end_ = past_end_ || inside < samples.size();
    samples = samples.first(inside);
  }
  if (begin_) {
    const std::size_t outside = count_before(position, samples.size(), *begin_);
    samples = samples.subspan(outside);
    position.index += static_cast<std::int64_t>(outside);
  }
  if (!samples.empty()) append(position, samples);
}

void ClipBuilder::append(SamplePosition position, std::span<const float> samples) {
  const bool follows =
      position.anchor == clip_position_.anchor &&
      position.index == clip_position_.index + static_cast<std::int64_t>(clip_.size());
  if (!follows) finish();
  if (clip_.empty()) clip_position_ = position;
  while (!samples.empty()) {
    const std::size_t count = std::min(samples.size(), kLongClip - clip_.size());
    clip_.insert(clip_.end(), samples.begin(),
                 samples.begin() + static_cast<std::ptrdiff_t>(count));
    samples = samples.subspan(count);
    if (clip_.size() >= kShortClip) finish();
  }
}

void ClipBuilder::finish() {
  if (clip_.empty()) return;
  const SamplePosition start = clip_position_;
  clip_position_.index += static_cast<std::int64_t>(clip_.size());
  sink_({start.time(), std::exchange(clip_, {})});
}

}  // namespace av_fusion
