// Copyright 2026 The av_fusion authors. SPDX-License-Identifier: Apache-2.0
#include "profile_table.h"

#include <array>
#include <cstdio>

namespace av_align {
namespace {

using av_fusion::PerformanceFigures;
using av_fusion::Stage;

std::string line(std::string_view name, double seconds, const PerformanceFigures& performance) {
  const double total = performance.stages.total();
  const double share = total > 0 ? 100 * seconds / total : 0;
  std::array<char, 80> text{};
  std::snprintf(text.data(), text.size(), "%-14s %9.3f s %5.1f %%", std::string(name).c_str(),
                seconds, share);
  std::string result = text.data();
  if (performance.speed_x_realtime && seconds > 0) {
    const double length_s = *performance.speed_x_realtime * performance.wall_s;
    std::snprintf(text.data(), text.size(), " %9.1f x", length_s / seconds);
    result += text.data();
  }
  return result + "\n";
}

}  // namespace

std::string profile_table(const PerformanceFigures& performance) {
  std::string table;
  for (std::size_t i = 0; i < av_fusion::kNumStages; ++i) {
    const auto stage = static_cast<Stage>(i);
    table += line(to_string(stage), performance.stages[stage], performance);
  }
  return table + line("all", performance.stages.total(), performance);
}

}  // namespace av_align
