// Copyright 2026 The av_fusion authors. SPDX-License-Identifier: Apache-2.0
#include "run_report.h"

#include <sys/resource.h>

namespace av_align {
namespace {

/// Peak memory of the process in 10^6 bytes.
std::optional<double> peak_rss_mb() {
  rusage usage{};
  if (getrusage(RUSAGE_SELF, &usage) != 0) return std::nullopt;
  return static_cast<double>(usage.ru_maxrss) * 1024 / 1e6;
}

}  // namespace

av_fusion::ReportContext report_context(const std::string& input,
                                        const std::optional<av_fusion::Tolerance>& tolerance,
                                        const av_fusion::Aligner& aligner,
                                        const av_fusion::AlignmentRun& run) {
  av_fusion::ReportContext context;
  context.tool = aligner.tool();
  context.input = run.input;
  context.input.path = input;
  context.tolerance = tolerance;
  context.performance = run.performance;
  context.performance->peak_rss_mb = peak_rss_mb();
  return context;
}

}  // namespace av_align
