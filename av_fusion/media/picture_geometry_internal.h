// Copyright 2026 The av_fusion authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "av_fusion/media/ffmpeg_util_internal.h"

namespace av_fusion {

struct PictureSize {
  int width = 0;
  int height = 0;

  friend bool operator==(PictureSize, PictureSize) = default;
};

/// One of the eight ways to lay a picture on a grid: first the axes are swapped (if `transpose`),
/// then the result is flipped.
struct Orientation {
  bool transpose = false;
  bool flip_x = false;
  bool flip_y = false;

  bool is_identity() const { return !transpose && !flip_x && !flip_y; }
  PictureSize apply(PictureSize size) const {
    return transpose ? PictureSize{size.height, size.width} : size;
  }

  /// As a flip from left to right (if `mirrored`) followed by a clockwise turn.
  bool mirrored() const { return transpose == (flip_x == flip_y); }
  int clockwise_deg() const;

  friend bool operator==(Orientation, Orientation) = default;
};

/// The orientation nearest to a display matrix (null: as stored). The matrix maps a stored point
/// (x, y) to (a x + c y, b x + d y), with y pointing down (libavutil/display.h).
Orientation orientation_of(const std::int32_t* matrix);

/// The size with square pixels, enlarging the axis with the long pixels. An aspect that is unknown
/// or beyond 10 to 1 counts as square.
PictureSize square_pixels(PictureSize stored, AVRational sample_aspect);

}  // namespace av_fusion
