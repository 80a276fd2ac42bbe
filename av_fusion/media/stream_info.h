// Copyright 2026 The av_fusion authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include "av_fusion/core/media_time.h"

namespace av_fusion {

/// What a container says about one of its streams. Fields that do not fit the kind keep their
/// defaults.
struct StreamInfo {
  enum class Kind { kVideo, kAudio, kOther };

  int index = 0;  ///< number in the container, from 0
  Kind kind = Kind::kOther;
  std::string codec;                    ///< FFmpeg's short name, for example "h264"
  bool decodable = false;               ///< this FFmpeg has a decoder for it
  bool is_default = false;              ///< marked by the container as the one to play
  std::optional<MediaTime> start;       ///< first presentation time
  std::optional<MediaDuration> length;  ///< as promised by the container
  std::string language;                 ///< as in the container, for example "deu"; may be empty
  std::string title;                    ///< may be empty

  // Video
  int coded_width = 0;         ///< pixels as stored
  int coded_height = 0;        ///< pixels as stored
  int display_width = 0;       ///< pixels of the pictures handed out: square-pixelled and upright
  int display_height = 0;      ///< pixels of the pictures handed out: square-pixelled and upright
  double average_fps = 0;      ///< pictures a second; 0 if unknown
  bool variable_rate = false;  ///< average and base rate differ, a hint: see MediaReader::Stats
  int rotation_deg = 0;        ///< clockwise turn that makes the picture upright: 0, 90, 180 or 270
  bool mirrored = false;  ///< the stored picture is also flipped left to right, before the turn
  bool is_still = false;  ///< cover art, thumbnail or a stream with one picture

  // Audio
  int sample_rate_hz = 0;
  int channels = 0;
  std::string layout;  ///< for example "stereo" or "5.1(side)"
};

}  // namespace av_fusion
