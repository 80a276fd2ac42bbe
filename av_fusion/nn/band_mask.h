// Copyright 2026 The av_fusion authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace av_fusion {

/// Query i may see key j where |i * stride + offset - j| <= width.
///
/// `stride` is the number of keys in the time of one query (4 for 25 Hz video over 100 Hz audio);
/// `offset` is the key that belongs to query 0.
struct BandMask {
  std::int64_t stride = 1;  ///< >= 0
  std::int64_t offset = 0;
  std::int64_t width = 0;  ///< >= 0

  /// Number of keys in a full band: lags -width to +width.
  constexpr std::int64_t num_lags() const { return 2 * width + 1; }
};

}  // namespace av_fusion
