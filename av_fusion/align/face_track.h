// Copyright 2026 The av_fusion authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <vector>

#include "av_fusion/align/offset.h"
#include "av_fusion/core/media_time.h"

namespace av_fusion {

/// A stretch of time in which a face speaks.
struct SpeakingSpan {
  MediaDuration start;  ///< from the file's first picture or sound
  MediaDuration end;
  double probability = 0;  ///< mean probability over the span
};

/// One face, followed from its first to its last picture.
struct FaceTrack {
  int id = 0;
  MediaDuration start;  ///< from the file's first picture or sound
  MediaDuration end;
  double box[4] = {0, 0, 0, 0};  ///< median x, y, width, height in pixels of the upright picture
  std::optional<Offset> offset;
  std::vector<SpeakingSpan> speaking;
};

}  // namespace av_fusion
