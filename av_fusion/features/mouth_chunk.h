// Copyright 2026 The av_fusion authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "av_fusion/core/media_time.h"
#include "av_fusion/core/tensor.h"
#include "av_fusion/features/face_box.h"

namespace av_fusion {

/// A run of T >= 1 consecutive ticks of one face track.
///
/// Where the face was lost for a few ticks only, the row before is repeated with `valid` 0. Chunks
/// of one track follow each other without a hole.
struct MouthChunk {
  int track_id = 0;
  std::int64_t first_tick = 0;           ///< of the grid of the extractor
  Tensor<std::uint8_t> crops;            ///< [T, kMouthHeight, kMouthWidth], see crop_mouth
  Tensor<float> geometry;                ///< [T, kLipGeometrySize], see lip_geometry
  std::vector<std::uint8_t> valid;       ///< [T], 1 where the row was measured, 0 where repeated
  std::vector<MediaTime> picture_times;  ///< [T], true time of the picture behind the row
  std::vector<FaceBox> boxes;            ///< [T], in pixels of that picture
  bool ends_track = false;               ///< no further chunk of this track will come

  std::int64_t length() const noexcept { return crops.dim(0); }
};

}  // namespace av_fusion
