// Copyright 2026 The av_fusion authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "av_fusion/media/ffmpeg_util_internal.h"

namespace av_fusion {

/// The decoder of one stream. Damage is counted, not thrown. Silent: FFmpeg's remarks on the data
/// are turned off for this decoder.
class Decoder {
 public:
  using OnFrame = std::function<void(const AVFrame& frame)>;

  /// Throws `Error(kUnsupported)` with `name` if the decoder cannot be opened.
  Decoder(const AVStream& stream, int threads, std::int64_t max_pixels, const std::string& name);

  /// Decodes a packet (null: the end, hands out what is left) and calls `on_frame` for each frame.
  void decode(const AVPacket* packet, const OnFrame& on_frame);

  std::int64_t errors() const { return errors_; }

 private:
  void drain(const OnFrame& on_frame);

  FfmpegPtr<AVCodecContext> codec_;
  FfmpegPtr<AVFrame> frame_;
  std::int64_t errors_ = 0;
};

}  // namespace av_fusion
