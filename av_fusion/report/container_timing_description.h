// Copyright 2026 The av_fusion authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

namespace av_fusion {

/// How the streams of an input begin, for players that obey the container and for those that do
/// not. Times are on the container's own clock. nullopt where unknown.
struct ContainerTimingDescription {
  std::optional<double> video_start_s;     ///< presentation time of the first picture
  std::optional<double> audio_start_s;     ///< presentation time of the first sample
  std::optional<double> video_stored_s;    ///< of the first stored picture, presented or not
  std::optional<double> audio_stored_s;    ///< of the first stored sample, presented or not
  std::optional<double> audio_priming_ms;  ///< sound marked as not to be presented
  std::optional<bool> edit_list;           ///< one moves or hides something at the beginning
  /// Shift that is added by a player that begins with all that is stored of both streams at once;
  /// more than 0 is sound early. nullopt also if it is less than a millisecond.
  std::optional<double> offset_if_ignored_ms;
};

}  // namespace av_fusion
