// Copyright 2026 The av_fusion authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>

#include "av_fusion/media/ffmpeg_util_internal.h"

namespace av_fusion {

/// How many bytes the decoded frames of a stream may take at a time, by the size of its file:
/// 310 MiB, or 256 times the file up to 2 GiB; 2 GiB if the size is not known.
///
/// A stream may ask for dozens of reference pictures, which costs it a few bytes. The largest real
/// ones (8192 x 4320 with eight references of 10 bits) need 1.1 GB, in files of many megabytes.
std::int64_t frame_memory_for(std::optional<std::int64_t> file_bytes);

/// The largest picture of which FFmpeg's decoders may hold as many as they like in `frame_bytes`.
std::int64_t pixels_for_any_codec(std::int64_t frame_bytes);

/// Counts the frames that a decoder holds, and refuses it more than its share. Decoders with
/// an allocator of their own (dav1d, libvpx) are not counted for the pictures they keep inside.
class FrameMemory {
 public:
  explicit FrameMemory(std::int64_t limit_bytes) : limit_bytes_(limit_bytes) {}

  /// Makes `codec`, not opened yet, ask this object. It must outlive the codec's opening and work,
  /// but not the frames.
  void attach(AVCodecContext& codec);

  /// Whether a frame has been refused.
  bool exceeded() const { return exceeded_; }

  std::int64_t limit_bytes() const { return limit_bytes_; }

 private:
  using Count = std::atomic<std::int64_t>;

  static int on_get_buffer(AVCodecContext* codec, AVFrame* frame, int flags);
  static void on_free(void* opaque, std::uint8_t* data);

  bool fits(const AVCodecContext& codec, const AVFrame& frame) const;
  int count_buffers(AVFrame& frame) const;

  std::int64_t limit_bytes_;
  std::shared_ptr<Count> held_bytes_ = std::make_shared<Count>(0);
  std::atomic<bool> exceeded_ = false;  // FFmpeg's threads may ask, too
};

}  // namespace av_fusion
