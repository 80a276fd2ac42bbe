// Copyright 2026 The av_fusion authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <optional>
#include <span>

#include "av_fusion/media/audio_clip.h"
#include "av_fusion/media/sound_timeline_internal.h"

namespace av_fusion {

/// Cuts sound to a window and into clips of 0.1 to 1 s.
class ClipBuilder {
 public:
  using Sink = std::function<void(AudioClip clip)>;

  /// Keeps samples at or after `begin` and before `end`; nothing: no bound.
  ClipBuilder(std::optional<MediaTime> begin, std::optional<MediaTime> end, Sink sink)
      : begin_(begin), end_(end), sink_(std::move(sink)) {}

  void add(SamplePosition position, std::span<const float> samples);

  /// Hands out what has not filled a clip.
  void finish();

  /// A sample at or after the end of the window has been seen.
  bool past_end() const { return past_end_; }

 private:
  void append(SamplePosition position, std::span<const float> samples);

  std::optional<MediaTime> begin_;
  std::optional<MediaTime> end_;
  Sink sink_;
  SamplePosition clip_position_;
  std::vector<float> clip_;
  bool past_end_ = false;
};

}  // namespace av_fusion
