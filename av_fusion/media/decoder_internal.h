// Copyright 2026 The av_fusion authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "av_fusion/media/ffmpeg_util_internal.h"
#include "av_fusion/media/frame_memory_internal.h"

namespace av_fusion {

/// The decoder of one stream. Damage is counted, not thrown. Silent: FFmpeg's remarks on the data
/// are turned off for this decoder.
class Decoder {
 public:
  using OnFrame = std::function<void(const AVFrame& frame)>;

  struct Limits {
    std::int64_t max_pixels = 0;   ///< of a picture; larger ones count as damage
    std::int64_t frame_bytes = 0;  ///< of all frames held at a time, see `frame_memory_for`
  };

  /// `kDraft` leaves out the last filter of a codec in pictures that no other is made from.
  enum class Quality { kFull, kDraft };

  /// Throws `Error(kUnsupported)` with `name` if the decoder cannot be opened.
  Decoder(const AVStream& stream, int threads, const Limits& limits, const std::string& name,
          Quality quality = Quality::kFull);

  /// Decodes a packet (null: the end, hands out what is left) and calls `on_frame` for each frame.
  /// Throws `Error(kUnsupported)` if that needs more than `Limits::frame_bytes`.
  void decode(const AVPacket* packet, const OnFrame& on_frame);

  std::int64_t errors() const { return errors_; }

 private:
  void drain(const OnFrame& on_frame);
  void refuse_large_frames() const;

  std::string name_;
  std::string place_;
  std::unique_ptr<FrameMemory> memory_;  // used by codec_
  FfmpegPtr<AVCodecContext> codec_;
  FfmpegPtr<AVFrame> frame_;
  std::int64_t errors_ = 0;
};

}  // namespace av_fusion
