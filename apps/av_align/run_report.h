// Copyright 2026 The av_fusion authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include "av_fusion/align/tolerance.h"
#include "av_fusion/aligner.h"
#include "av_fusion/alignment_run.h"
#include "av_fusion/report/report_context.h"

namespace av_align {

/// What a report says besides the answer: `run` of `aligner` on the file that the user calls
/// `input`, and the peak memory of this process so far.
av_fusion::ReportContext report_context(const std::string& input,
                                        const std::optional<av_fusion::Tolerance>& tolerance,
                                        const av_fusion::Aligner& aligner,
                                        const av_fusion::AlignmentRun& run);

}  // namespace av_align
