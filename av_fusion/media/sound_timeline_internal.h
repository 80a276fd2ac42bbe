// Copyright 2026 The av_fusion authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <utility>

#include "av_fusion/core/media_time.h"
#include "av_fusion/media/audio_resampler.h"

namespace av_fusion {

/// A place on the grid of output samples: `index` samples at 16 kHz after `anchor`.
struct SamplePosition {
  MediaTime anchor;
  std::int64_t index = 0;

  MediaTime time() const;  ///< to the nearest microsecond
};

/// Lays mono sound of any rate on the timeline and resamples it to 16 kHz.
///
/// Input sample n of a run is heard at anchor + n / rate; the anchor is the time stamp of the run's
/// first sample, so the rounding of later stamps never adds up. The stamps are compared with this
/// clock: a difference above 20 ms (and two ticks of the time base) is corrected at once, one above
/// 5 ms when it has lasted for 200 ms, so that jitter does not chop the sound. A hole becomes
/// silence, an overlap is cut away; a hole above 10 s ends the run.
class SoundTimeline {
 public:
  /// Gets the sound in order: `samples` begin at `position`. A new anchor begins a new run.
  using Sink = std::function<void(SamplePosition position, std::span<const float> samples)>;

  explicit SoundTimeline(Sink sink) : sink_(std::move(sink)) {}

  /// Adds a frame; `time` is the stamp of its first sample if it has one, `tick` the resolution of
  /// the stamps. Throws `Error(kInternal)`.
  void add(std::span<const float> samples, int rate_hz, std::optional<MediaTime> time,
           MediaDuration tick);

  /// Hands out what the resampler still holds.
  void finish();

  int gaps() const { return gaps_; }

 private:
  void begin(int rate_hz, MediaTime anchor);
  MediaTime input_clock() const;
  std::int64_t correction_us(std::int64_t deviation_us, std::int64_t tick_us, std::size_t samples);
  void add_silence(std::int64_t samples);
  void resample(std::span<const float> samples);
  void hand_out(std::int64_t index, std::span<const float> samples);

  Sink sink_;
  int rate_hz_ = 0;  // 0: no run
  MediaTime anchor_;
  std::optional<AudioResampler> resampler_;
  std::int64_t streak_us_ = 0;      // how long the stamps have been off to the same side
  std::int64_t streak_min_us_ = 0;  // the smallest deviation in that time
  int gaps_ = 0;
};

}  // namespace av_fusion
