// Copyright 2026 The av_fusion authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "av_fusion/align/lag_calibration.h"
#include "av_fusion/align/speaking_calibration.h"
#include "av_fusion/core/media_time.h"

namespace av_fusion {

/// What `AlignmentBuilder` needs to know before the first tick.
struct AlignmentOptions {
  MediaDuration tick_hop = {40'000};        ///< time between picture ticks
  MediaDuration lag_hop = {10'000};         ///< time between neighbouring lags
  std::int64_t width = 100;                 ///< lags run from -width to +width; >= 2
  std::int64_t heads = 0;                   ///< attention heads of the evidence; >= 1
  MediaDuration window = {4'000'000};       ///< length of one stretch of the timeline
  MediaDuration hop = {1'000'000};  ///< between stretches, of all faces from the first tick on
  MediaDuration attention_hop = {200'000};  ///< one attention frame a face each so often
  MediaDuration keep = {0};     ///< results older than this are forgotten, > window; 0: none are
  std::int64_t min_ticks = 10;  ///< fewer valid ticks are "too short", in a stretch as in the file
  MediaDuration min_speech = {200'000};  ///< less speech in the file is "no speech"
  double min_confidence = 0.5;           ///< below this an offset is "ambiguous"
  /// Below this probability that a face in view makes the sound there is no offset. More than even:
  /// another sentence with the same grammar and pace passes for a match more easily than the foreign
  /// sound that the probability was fitted on.
  double min_match = 0.7;
  LagCalibration calibration;
  SpeakingCalibration speaking;
};

}  // namespace av_fusion
