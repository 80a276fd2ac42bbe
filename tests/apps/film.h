// Copyright 2026 The av_fusion authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "av_fusion/core/media_time.h"
#include "av_fusion/media/video_frame.h"

namespace av_fusion::test {

/// A film as a host has it: pictures, and sound in one piece.
struct Film {
  std::vector<VideoFrame> pictures;
  MediaTime sound_start;
  std::vector<float> sound;  ///< mono, 16 kHz

  MediaTime time_of(std::size_t sample) const;
};

/// The first `length` of a file whose sound has no hole.
Film read_film(const std::string& path, MediaDuration length);

}  // namespace av_fusion::test
