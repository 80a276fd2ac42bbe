// Copyright 2026 The av_fusion authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include "av_fusion/report/audio_description.h"
#include "av_fusion/report/container_timing_description.h"
#include "av_fusion/report/video_description.h"

namespace av_fusion {

/// What the input is, as far as its container says.
struct InputDescription {
  std::string path;       ///< as given; bytes that are not UTF-8 are replaced in the report
  std::string container;  ///< short name of the format; empty if unknown
  std::optional<double> duration_s;  ///< as promised; measured if `clock_jumps` > 0
  std::optional<VideoDescription> video;
  std::optional<AudioDescription> audio;
  std::optional<ContainerTimingDescription> container_timing;
  bool truncated = false;  ///< the file ends before its own header says
  int clock_jumps = 0;     ///< places where the container's clock restarts; the parts were joined
};

}  // namespace av_fusion
