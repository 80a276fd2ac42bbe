// Copyright 2026 The av_fusion authors. SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <climits>

#include "av_fusion/media/picture_clock_internal.h"

namespace av_fusion {
namespace {

constexpr std::size_t kMaxBuckets = 256;
constexpr std::int64_t kDefaultDistanceUs = 40'000;
constexpr std::int64_t kMinGapUs = 250'000;

}  // namespace

std::optional<MediaTime> PictureClock::time_of(const AVFrame& frame) {
  std::int64_t stamp = frame.best_effort_timestamp;
  if (stamp == AV_NOPTS_VALUE) stamp = frame.pts;
  const MediaTime guess = last_ ? *last_ + last_duration_ : MediaTime{};
  const MediaTime time = stamp == AV_NOPTS_VALUE ? guess : MediaTime{to_us(stamp, time_base_)};
  if (last_ && time <= *last_) return std::nullopt;
  if (last_) note_distance((time - *last_).us);
  last_ = time;
  last_duration_ = duration_of(frame);
  return time;
}

MediaDuration PictureClock::duration_of(const AVFrame& frame) const {
  const std::int64_t own = to_us(frame_duration(frame), time_base_);
  if (own > 0) return {own};
  if (nominal_rate_.num <= 0 || nominal_rate_.den <= 0) return {kDefaultDistanceUs};
  return {std::max<std::int64_t>(to_us(1, av_inv_q(nominal_rate_)), 1)};
}

std::int64_t PictureClock::bucket_us() const { return 2 * to_us(1, time_base_) + 1000; }

void PictureClock::note_distance(std::int64_t us) {
  ++distance_count_;
  const std::int64_t bucket = us / bucket_us();
  if (distances_.size() < kMaxBuckets || distances_.contains(bucket)) ++distances_[bucket];
}

// The most frequent one.
std::int64_t PictureClock::usual_bucket() const {
  const auto usual =
      std::max_element(distances_.begin(), distances_.end(),
                       [](const auto& a, const auto& b) { return a.second < b.second; });
  return usual == distances_.end() ? 0 : usual->first;
}

int PictureClock::gaps() const {
  const std::int64_t longest_us = std::max(4 * (usual_bucket() + 1) * bucket_us(), kMinGapUs);
  std::int64_t count = 0;
  for (const auto& [bucket, times] : distances_) {
    if (bucket * bucket_us() > longest_us) count += times;
  }
  return static_cast<int>(std::min<std::int64_t>(count, INT_MAX));
}

bool PictureClock::variable_rate() const {
  if (distances_.empty()) return false;
  const std::int64_t usual = usual_bucket();
  std::int64_t near = 0;  // with the neighbours, for distances on the edge of a bucket
  for (std::int64_t bucket = usual - 1; bucket <= usual + 1; ++bucket) {
    const auto found = distances_.find(bucket);
    if (found != distances_.end()) near += found->second;
  }
  const std::int64_t odd = distance_count_ - near;
  return odd > 1 && odd * 50 > distance_count_;
}

}  // namespace av_fusion
