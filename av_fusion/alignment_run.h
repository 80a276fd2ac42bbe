// Copyright 2026 The av_fusion authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include "av_fusion/align/alignment.h"
#include "av_fusion/core/media_time.h"
#include "av_fusion/report/input_description.h"
#include "av_fusion/report/performance_figures.h"

namespace av_fusion {

/// What one call of `Aligner::align` brings back. A plain value.
struct AlignmentRun {
  Alignment alignment;             ///< the answer
  InputDescription input;          ///< what the file is
  PerformanceFigures performance;  ///< without `peak_rss_mb`, which belongs to the process
  MediaDuration speech;            ///< how much of the analysed sound is speech
  bool cancelled = false;          ///< the progress callback asked to stop: covers a part only
};

}  // namespace av_fusion
