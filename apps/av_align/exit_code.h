// Copyright 2026 The av_fusion authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "av_fusion/align/alignment.h"
#include "av_fusion/align/tolerance.h"

namespace av_align {

inline constexpr int kExitMeasured = 0;
inline constexpr int kExitOutsideTolerance = 1;
inline constexpr int kExitNotMeasurable = 2;
inline constexpr int kExitWrongArguments = 3;
inline constexpr int kExitUnreadableInput = 4;

/// The exit code for an analysed file. An interval that lies across a limit ("undecided") is not
/// shown to be outside and counts as measured.
inline int exit_code(const av_fusion::Alignment& alignment,
                     const std::optional<av_fusion::Tolerance>& tolerance) {
  if (alignment.status != av_fusion::AlignmentStatus::kMeasured || !alignment.offset) {
    return kExitNotMeasurable;
  }
  if (!tolerance) return kExitMeasured;
  const bool fails = av_fusion::judge(*alignment.offset, *tolerance) == av_fusion::Verdict::kFail;
  return fails ? kExitOutsideTolerance : kExitMeasured;
}

}  // namespace av_align
