// Copyright 2026 The av_fusion authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <optional>

#include "av_fusion/core/media_time.h"

namespace av_fusion {

/// How far `Aligner::align` has come with one file.
struct AlignProgress {
  MediaDuration position;               ///< analysed so far, from the beginning of the part
  std::optional<MediaDuration> length;  ///< of the part to analyse, as the container promises it
  double speed_x_realtime = 0;          ///< analysed time divided by wall time
};

/// Called now and then (about ten times a second) on the thread that runs `align`. Returning false
/// asks it to stop; the run then covers what was analysed and says `cancelled`. Must not throw.
using AlignProgressCallback = std::function<bool(const AlignProgress&)>;

}  // namespace av_fusion
