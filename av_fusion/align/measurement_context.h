// Copyright 2026 The av_fusion authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "av_fusion/core/media_time.h"

namespace av_fusion {

/// What was seen and heard of a file besides the evidence; decides why something is not measured.
struct MeasurementContext {
  bool has_video = false;
  bool has_audio = false;
  std::int64_t pictures = 0;            ///< looked at (ticks, or pictures of the file)
  std::int64_t pictures_with_face = 0;  ///< of those
  MediaDuration speech;                 ///< how much of the sound is speech
  MediaDuration sound;                  ///< how much sound there is
  MediaTime origin;                     ///< first presented picture or sound, the earlier one
};

}  // namespace av_fusion
