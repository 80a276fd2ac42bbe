// Copyright 2026 The av_fusion authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include "av_fusion/align/offset.h"

namespace av_fusion {

/// What accumulated evidence says about the offset of one stretch.
struct LagEstimate {
  Offset offset;                 ///< confidence = `within_40_ms` * `match_probability`
  double within_40_ms = 0;       ///< posterior mass within 40 ms of `offset.ms`, 0 to 1
  double match_probability = 0;  ///< that this face makes this sound, 0 to 1
  bool at_edge = false;  ///< the best lag is one of the two first or last: not a measurement
};

}  // namespace av_fusion
