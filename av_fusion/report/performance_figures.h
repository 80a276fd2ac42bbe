// Copyright 2026 The av_fusion authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "av_fusion/core/stage_times.h"

namespace av_fusion {

/// What a measurement cost.
struct PerformanceFigures {
  double wall_s = 0;
  std::optional<double> speed_x_realtime;  ///< length of what was analysed / wall time
  int threads = 0;
  std::optional<double> peak_rss_mb;  ///< of the process, in 10^6 bytes
  StageTimes stages = {};             ///< of the calling thread; decoding elsewhere counts
                                      ///< as far as it was waited for, the network there not
};

}  // namespace av_fusion
