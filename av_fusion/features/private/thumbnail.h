// Copyright 2026 The av_fusion authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>

#include "av_fusion/core/tensor_view.h"

namespace av_fusion {

/// A picture in 18 x 32 cells, each the mean of some of its pixels: enough to see what changes.
struct Thumbnail {
  static constexpr int kRows = 18;
  static constexpr int kColumns = 32;

  /// Of a picture [height, width], not empty.
  static Thumbnail of(TensorView<const std::uint8_t> luma);

  Shape picture;  ///< its shape
  std::array<float, kRows * kColumns> cells{};
};

}  // namespace av_fusion
