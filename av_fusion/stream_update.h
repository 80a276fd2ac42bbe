// Copyright 2026 The av_fusion authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "av_fusion/align/offset.h"
#include "av_fusion/align/track_state.h"
#include "av_fusion/core/media_time.h"

namespace av_fusion {

/// What a `StreamAligner` knows at one moment. A plain value; times are those that were pushed.
struct StreamUpdate {
  std::optional<MediaTime> judged_until;  ///< last picture of which some face was judged
  std::optional<Offset> offset;           ///< `TrackState::recent` of the surest face
  std::vector<TrackState> tracks;         ///< faces in view, by id
  std::int64_t pictures_dropped = 0;      ///< not later than the one before
  std::int64_t samples_dropped = 0;       ///< already heard, or too late to be heard
};

}  // namespace av_fusion
