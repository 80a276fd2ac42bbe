// Copyright 2026 The av_fusion authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "av_fusion/core/tensor.h"

namespace av_fusion {

/// The part of a picture from (x, y), `width` by `height` pixels of the source, in floating point;
/// it may reach over the border.
struct PictureRegion {
  double x = 0;
  double y = 0;
  double width = 0;
  double height = 0;
};

/// `region` of `luma` [height, width] (columns dense) as a picture of [rows, columns]: area
/// averages where it shrinks, linear interpolation where it grows, border pixels repeated. Written
/// here rather than taken from OpenCV because cv::resize starts worker threads on large pictures,
/// which a library must leave to its host, and because features must not change with its version.
Tensor<std::uint8_t> resample(TensorView<const std::uint8_t> luma, const PictureRegion& region,
                              int rows, int columns);

}  // namespace av_fusion
