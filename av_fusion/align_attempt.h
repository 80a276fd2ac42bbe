// Copyright 2026 The av_fusion authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "av_fusion/align_failure.h"
#include "av_fusion/alignment_run.h"

namespace av_fusion {

/// What `Aligner::try_align` brings back: a run, or else the failure.
struct AlignAttempt {
  std::optional<AlignmentRun> run;
  AlignFailure failure;  ///< meaningful only without `run`
};

}  // namespace av_fusion
