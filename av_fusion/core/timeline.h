// Copyright 2026 The av_fusion authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include "av_fusion/core/media_time.h"

namespace av_fusion {

/// Regularly spaced instants: index i happens at `start + i * hop`. The only way in av_fusion to
/// turn an index into a time.
struct Timeline {
  MediaTime start;
  MediaDuration hop;  ///< > 0

  constexpr MediaTime at(std::int64_t index) const { return start + hop * index; }

  /// The index whose instant is nearest to `time` (ties go up); may be negative.
  constexpr std::int64_t nearest(MediaTime time) const {
    const std::int64_t twice = 2 * (time - start).us + hop.us;
    const std::int64_t step = 2 * hop.us;
    return twice >= 0 ? twice / step : -((-twice + step - 1) / step);
  }
};

}  // namespace av_fusion
