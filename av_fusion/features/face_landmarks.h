// Copyright 2026 The av_fusion authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>

namespace av_fusion {

/// The 68 points of a face in the order of the iBUG 300-W annotation, counted from 0, in pixels of
/// the picture: 0-16 jaw (8 = chin), 17-26 brows, 27-35 nose (33 = its base), 36-41 and 42-47 the
/// eyes, 48-59 outer lip (48 and 54 = corners, 51 and 57 = middle), 60-67 inner lip (62 and 66 =
/// middle). "Left" and "right" below are sides of the picture.
struct FaceLandmarks {
  struct Point {
    float x = 0;
    float y = 0;
  };
  static constexpr std::size_t kCount = 68;

  std::array<Point, kCount> points{};

  const Point& operator[](std::size_t index) const noexcept { return points[index]; }

  /// Mean of the six points of the eye on the left of the picture (36-41).
  Point left_eye() const noexcept { return mean(36, 42); }
  /// Mean of the six points of the eye on the right of the picture (42-47).
  Point right_eye() const noexcept { return mean(42, 48); }
  /// Distance between the two eye centres in pixels.
  float eye_distance() const noexcept { return distance(left_eye(), right_eye()); }
  /// Mean of the points `begin` to `end` (exclusive); `begin` < `end` <= 68.
  Point mean(std::size_t begin, std::size_t end) const noexcept;

  static float distance(const Point& a, const Point& b) noexcept;
};

}  // namespace av_fusion
