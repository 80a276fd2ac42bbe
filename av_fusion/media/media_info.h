// Copyright 2026 The av_fusion authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "av_fusion/core/media_time.h"
#include "av_fusion/media/container_timing.h"
#include "av_fusion/media/stream_info.h"

namespace av_fusion {

/// What a container says about itself, and which streams the reader chose.
struct MediaInfo {
  std::string container;                  ///< FFmpeg's short name, for example "matroska,webm"
  std::optional<MediaDuration> duration;  ///< as promised, or guessed by FFmpeg; not measured
  bool can_seek = false;            ///< a part can be reached without reading what lies before it
  std::vector<StreamInfo> streams;  ///< element i is stream i
  std::optional<int> video;         ///< the video stream read; none: there is no moving picture
  std::optional<int> audio;         ///< the audio stream read; none: there is no sound
  ContainerTiming timing;           ///< of these two
};

}  // namespace av_fusion
