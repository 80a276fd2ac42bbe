// Copyright 2026 The av_fusion authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace av_fusion {

/// The video stream of an input. Zero or empty where unknown; the report writes null then.
struct VideoDescription {
  int stream = 0;  ///< number in the container
  std::string codec;
  int width = 0;  ///< pixels, upright
  int height = 0;
  double average_fps = 0;  ///< by the container, or by the pictures if these say otherwise
  bool variable_rate = false;
  int rotation_deg = 0;  ///< that the container asks for
  double start_s = 0;    ///< presentation time of the first picture
  int gaps = 0;          ///< distances between pictures of over 250 ms and four times the usual one
};

}  // namespace av_fusion
