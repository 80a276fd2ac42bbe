// Copyright 2026 The av_fusion authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "av_fusion/core/media_time.h"

namespace av_fusion {

/// How the chosen streams of a file begin for a player that does not obey its container.
///
/// A file may store pictures and sound that are not to be presented: what an edit list cuts away,
/// and the samples that an encoder needs to get going (priming). And streams may begin at different
/// times. A careless player presents all that is stored, and begins with both streams at once.
struct ContainerTiming {
  /// When the first stored picture and the first stored sample would be presented if the time line
  /// were continued to them. nullopt: no such stream, or not found out.
  std::optional<MediaTime> first_stored_picture;
  std::optional<MediaTime> first_stored_sample;

  /// Sound at the front that is marked as not to be presented: priming, or cut by an edit list.
  MediaDuration audio_priming;

  /// An edit list of an MP4 or MOV file moves a chosen stream or hides something of it at its
  /// beginning. nullopt: not found out, because the source cannot seek.
  std::optional<bool> edit_list;

  /// What the careless player adds to the offset between sound and picture: > 0 sound early, as in
  /// `Offset`. nullopt if unknown.
  std::optional<MediaDuration> shift_if_ignored() const {
    if (!first_stored_picture || !first_stored_sample) return std::nullopt;
    return *first_stored_sample - *first_stored_picture;
  }
};

}  // namespace av_fusion
