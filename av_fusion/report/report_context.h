// Copyright 2026 The av_fusion authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "av_fusion/align/tolerance.h"
#include "av_fusion/report/input_description.h"
#include "av_fusion/report/performance_figures.h"
#include "av_fusion/report/tool_description.h"

namespace av_fusion {

/// Everything a report says besides the alignment itself.
struct ReportContext {
  ToolDescription tool;
  InputDescription input;
  std::optional<Tolerance> tolerance;
  std::optional<PerformanceFigures> performance;
};

}  // namespace av_fusion
