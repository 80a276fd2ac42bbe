// Copyright 2026 The av_fusion authors. SPDX-License-Identifier: Apache-2.0
#include "av_fusion/features/private/scene_cut.h"

#include <cmath>
#include <cstddef>
#include <utility>

namespace av_fusion {
namespace {

constexpr double kMinMeanDifference = 12;  // grey levels
constexpr double kMaxCorrelation = 0.7;

}  // namespace

bool SceneCutDetector::is_cut(const Thumbnail& picture) {
  const Thumbnail last = std::exchange(last_, picture);
  const auto& now = picture.cells;
  const auto& before = last.cells;
  if (last.picture.rank() == 0) return false;
  if (last.picture != picture.picture) return true;
  double mean_now = 0, mean_before = 0, difference = 0;
  for (std::size_t i = 0; i < now.size(); ++i) {
    mean_now += now[i];
    mean_before += before[i];
    difference += std::abs(now[i] - before[i]);
  }
  const auto count = static_cast<double>(now.size());
  if (difference / count < kMinMeanDifference) return false;
  mean_now /= count;
  mean_before /= count;
  double both = 0, square_now = 1e-9, square_before = 1e-9;
  for (std::size_t i = 0; i < now.size(); ++i) {
    both += (now[i] - mean_now) * (before[i] - mean_before);
    square_now += (now[i] - mean_now) * (now[i] - mean_now);
    square_before += (before[i] - mean_before) * (before[i] - mean_before);
  }
  return both / std::sqrt(square_now * square_before) < kMaxCorrelation;
}

}  // namespace av_fusion
