// Copyright 2026 The av_fusion authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <optional>

#include "av_fusion/media/ffmpeg_util_internal.h"

namespace av_fusion {

/// Presentation times of decoded pictures.
class PictureClock {
 public:
  PictureClock(AVRational time_base, AVRational nominal_rate)
      : time_base_(time_base), nominal_rate_(nominal_rate) {}

  /// The picture's own time; a missing one goes on from the picture before. Nothing if the time
  /// does not rise: the picture is to be dropped.
  std::optional<MediaTime> time_of(const AVFrame& frame);

  /// How long the picture is shown; a guess by the nominal rate if it does not say.
  MediaDuration duration_of(const AVFrame& frame) const;

  /// Whether more than one and more than 2 % of the distances between pictures differ from the
  /// usual one by more than the resolution of the time stamps explains.
  bool variable_rate() const;

  /// Distances between pictures of more than 250 ms and more than four times the usual one.
  int gaps() const;

 private:
  std::int64_t bucket_us() const;
  void note_distance(std::int64_t us);
  std::int64_t usual_bucket() const;

  AVRational time_base_;
  AVRational nominal_rate_;
  std::optional<MediaTime> last_;
  MediaDuration last_duration_;
  std::map<std::int64_t, std::int64_t> distances_;  // how often, by distance in buckets
  std::int64_t distance_count_ = 0;
};

}  // namespace av_fusion
