// Copyright 2026 The av_fusion authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "av_fusion/core/media_time.h"
#include "av_fusion/core/tensor.h"

namespace av_fusion {

/// One decoded picture, upright and square-pixelled, as 8-bit luma.
struct VideoFrame {
  MediaTime time;             ///< presentation time
  Tensor<std::uint8_t> luma;  ///< [height, width]; full range, 0 = black
};

}  // namespace av_fusion
