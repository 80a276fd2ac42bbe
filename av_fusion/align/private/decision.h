// Copyright 2026 The av_fusion authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "av_fusion/align/alignment.h"
#include "av_fusion/align/alignment_options.h"
#include "av_fusion/align/lag_posterior.h"
#include "av_fusion/align/measurement_context.h"

namespace av_fusion {

/// Whether a file's offset counts as measured, and the sentence that says why or why not.
struct Decision {
  AlignmentStatus status = AlignmentStatus::kMeasured;
  std::string reason;
  std::optional<Offset> offset;  ///< if measured
  bool at_search_edge = false;
};

/// True for an offset that may be shown as a measurement.
bool is_measurement(const LagEstimate& estimate, const AlignmentOptions& options);

/// `evidence` is the weighted sum over the file, `match_probability` that of its surest face;
/// `valid_ticks` and `tracks` say what it was summed from, without weights.
Decision decide(const MeasurementContext& context, const AlignmentOptions& options,
                const LagPosterior& evidence, double match_probability, std::int64_t valid_ticks,
                std::int64_t tracks);

}  // namespace av_fusion
