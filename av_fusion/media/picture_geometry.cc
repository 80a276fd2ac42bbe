// Copyright 2026 The av_fusion authors. SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "av_fusion/media/picture_geometry_internal.h"

namespace av_fusion {

// With the axes swapped, (x, y) -> (y, x) alone is a mirror image; one flip more makes it a turn:
// flip_x gives (H - 1 - y, x), a quarter turn clockwise.
int Orientation::clockwise_deg() const {
  // A flip from left to right before the turn shows up as flip_y behind swapped axes and as
  // flip_x otherwise; undo it to see the turn.
  const bool x = mirrored() && !transpose ? !flip_x : flip_x;
  if (transpose) return x ? 90 : 270;
  return x ? 180 : 0;
}

Orientation orientation_of(const std::int32_t* matrix) {
  if (matrix == nullptr) return {};
  const double a = matrix[0];
  const double b = matrix[1];
  const double c = matrix[3];
  const double d = matrix[4];
  if (std::abs(a) + std::abs(d) >= std::abs(b) + std::abs(c)) return {false, a < 0, d < 0};
  return {true, c < 0, b < 0};
}

PictureSize square_pixels(PictureSize stored, AVRational sample_aspect) {
  if (sample_aspect.num <= 0 || sample_aspect.den <= 0) return stored;
  const double aspect = av_q2d(sample_aspect);
  if (aspect > 10 || aspect < 0.1) return stored;
  if (aspect >= 1) {
    return {static_cast<int>(std::lround(stored.width * aspect)), stored.height};
  }
  return {stored.width, static_cast<int>(std::lround(stored.height / aspect))};
}

}  // namespace av_fusion
