// Copyright 2026 The av_fusion authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include "av_fusion/align/alignment_builder.h"
#include "av_fusion/align/measurement_context.h"

namespace av_fusion {

/// What has been found out about one file. Sessions on parts of it add to it, one after the other.
struct FileEvidence {
  explicit FileEvidence(const AlignmentOptions& options) : builder(options) {}

  AlignmentBuilder builder;
  MeasurementContext context;  ///< of the sessions that are closed
  int next_track = 0;          ///< number of the next face that nobody has seen yet
};

}  // namespace av_fusion
