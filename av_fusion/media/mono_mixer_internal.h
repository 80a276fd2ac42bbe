// Copyright 2026 The av_fusion authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <vector>

#include "av_fusion/media/ffmpeg_util_internal.h"

namespace av_fusion {

/// Mixes decoded sound of any sample format and channel layout to mono floats.
///
/// Weights as in ITU-R BS.775-3, annex 4, added to one channel: centre 1, left and right 0.7071,
/// all others 0.5, no low-frequency effects; divided by their sum. A layout without names is
/// guessed from the number of channels, else all channels weigh the same. Samples that are not
/// finite become 0; values are limited to -8 .. 8.
class MonoMixer {
 public:
  /// One sample for each of the frame's; empty for an unknown sample format. Valid until the next
  /// call.
  std::span<const float> mix(const AVFrame& frame);

 private:
  std::vector<float> weights_;
  std::vector<float> mixed_;
};

}  // namespace av_fusion
