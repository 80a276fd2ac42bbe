// Copyright 2026 The av_fusion authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace av_fusion {

/// The audio stream of an input. Zero or empty where unknown; the report writes null then.
struct AudioDescription {
  int stream = 0;  ///< number in the container
  std::string codec;
  int sample_rate_hz = 0;
  int channels = 0;
  std::string channel;  ///< what was listened to: "downmix", "difference", a name or a number
  double start_s = 0;   ///< presentation time of the first sample
  int gaps = 0;         ///< holes in the timestamps that were kept as silence
};

}  // namespace av_fusion
