// Copyright 2026 The av_fusion authors. SPDX-License-Identifier: Apache-2.0
#include "av_fusion/features/face_landmarks.h"

#include <cmath>

namespace av_fusion {

FaceLandmarks::Point FaceLandmarks::mean(std::size_t begin, std::size_t end) const noexcept {
  Point sum;
  for (std::size_t i = begin; i < end; ++i) {
    sum.x += points[i].x;
    sum.y += points[i].y;
  }
  const auto count = static_cast<float>(end - begin);
  return {sum.x / count, sum.y / count};
}

float FaceLandmarks::distance(const Point& a, const Point& b) noexcept {
  return std::hypot(a.x - b.x, a.y - b.y);
}

}  // namespace av_fusion
