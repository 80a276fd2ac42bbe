// Copyright 2026 The av_fusion authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "av_fusion/report/performance_figures.h"

namespace av_align {

/// One line for each stage of the analysis, in the order of the data: seconds, share of all, and
/// the speed in times real time that this stage alone would have. Ends with their sum.
std::string profile_table(const av_fusion::PerformanceFigures& performance);

}  // namespace av_align
