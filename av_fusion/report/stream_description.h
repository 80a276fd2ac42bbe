// Copyright 2026 The av_fusion authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

namespace av_fusion {

/// One stream of an input, as far as its container says. Zero or empty where unknown; the list
/// writes null then.
struct StreamDescription {
  enum class Kind { kVideo, kAudio, kOther };

  int index = 0;  ///< number in the container, from 0
  Kind kind = Kind::kOther;
  std::string codec;
  bool decodable = false;            ///< there is a decoder for it
  bool is_default = false;           ///< marked by the container as the one to play
  bool is_used = false;              ///< a measurement would take this one
  std::optional<double> start_s;     ///< first presentation time, on the container's clock
  std::optional<double> duration_s;  ///< as promised by the container
  std::string language;              ///< as in the container, for example "deu"
  std::string title;                 ///< bytes that are not UTF-8 are replaced in the list

  // Video
  int width = 0;  ///< pixels as displayed: square and upright
  int height = 0;
  int coded_width = 0;  ///< pixels as stored
  int coded_height = 0;
  double average_fps = 0;
  bool variable_rate = false;  ///< a hint: nothing is measured for a list
  int rotation_deg = 0;        ///< that the container asks for, clockwise
  bool mirrored = false;       ///< the stored picture is flipped left to right, before the turn
  bool is_still = false;       ///< cover art, thumbnail or a stream with one picture

  // Audio
  int sample_rate_hz = 0;
  int channels = 0;
  std::string layout;  ///< for example "stereo" or "5.1(side)"
};

}  // namespace av_fusion
