// Copyright 2026 The av_fusion authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "av_fusion/core/media_time.h"

namespace av_fusion {

/// A run of mono samples without a hole; sample i is heard at `start + i / sample_rate_hz`.
struct AudioClip {
  static constexpr int kSampleRateHz = 16000;
  static constexpr float kLimit = 8;  ///< the largest magnitude of a sample

  MediaTime start;             ///< presentation time of the first sample
  std::vector<float> samples;  ///< finite, nominally -1 to 1, at `kSampleRateHz`
};

}  // namespace av_fusion
