// Copyright 2026 The av_fusion authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "av_fusion/align/alignment_options.h"
#include "av_fusion/core/media_time.h"

namespace av_fusion {

/// How the time of one file is cut: bins of evidence, from which the stretches of the timeline are
/// put together.
struct BinGrid {
  /// Throws `Error(kInvalidArgument)` if window and hop have no common step of at least one tick.
  explicit BinGrid(const AlignmentOptions& options);

  std::int64_t bin_of(MediaTime time) const;
  /// First bin of the last stretch that begins with `bin` or before it. The stretches of all faces
  /// lie a whole number of hops after the anchor.
  std::int64_t stretch_of(std::int64_t bin) const;
  MediaTime start_of(std::int64_t bin) const { return anchor + bin_length * bin; }

  MediaTime anchor;  ///< start of bin 0: the first tick of the file
  MediaDuration bin_length;
  std::int64_t window_bins = 0;
  std::int64_t hop_bins = 0;
};

/// Rounds towards minus infinity; `divisor` > 0.
constexpr std::int64_t floor_divide(std::int64_t value, std::int64_t divisor) {
  return value / divisor - (value % divisor < 0 ? 1 : 0);
}

}  // namespace av_fusion
