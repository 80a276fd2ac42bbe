// Copyright 2026 The av_fusion authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <optional>

#include "av_fusion/align/offset.h"
#include "av_fusion/core/media_time.h"

namespace av_fusion {

/// What is known of a face while its stream goes on.
struct TrackState {
  int id = 0;
  MediaTime first;               ///< first picture that was judged
  MediaTime last;                ///< last picture that was judged
  std::array<double, 4> box{};   ///< latest x, y, width, height in pixels
  double speaking = 0;           ///< probability that it speaks, in the last fifth of a second
  std::optional<Offset> recent;  ///< of the last stretch of the timeline; absent: not measured
  std::optional<Offset> whole;   ///< of everything since `first`; absent: not measured
};

}  // namespace av_fusion
