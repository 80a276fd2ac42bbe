// Copyright 2026 The av_fusion authors. SPDX-License-Identifier: Apache-2.0
#include "av_fusion/media/frame_memory_internal.h"

extern "C" {
#include <libavutil/imgutils.h>
#include <libavutil/samplefmt.h>
}

#include <algorithm>

namespace av_fusion {
namespace {

constexpr std::int64_t kLeastBytes = std::int64_t{310} << 20;
constexpr std::int64_t kMostBytes = std::int64_t{2} << 30;
constexpr std::int64_t kBytesForEachOfTheFile = 256;

// 34 pictures (16 references, 16 in waiting, 2 in work) of 1.5 bytes and its side tables each.
constexpr std::int64_t kBytesForAnyCodec = 64;

std::int64_t bytes_of(const AVCodecContext& codec, const AVFrame& frame) {
  if (codec.codec_type == AVMEDIA_TYPE_AUDIO) {
    return av_samples_get_buffer_size(nullptr, frame.ch_layout.nb_channels, frame.nb_samples,
                                      static_cast<AVSampleFormat>(frame.format), 0);
  }
  return av_image_get_buffer_size(static_cast<AVPixelFormat>(frame.format), frame.width,
                                  frame.height, 64);
}

// One buffer of a frame, and where its size is to be subtracted.
struct Held {
  std::shared_ptr<std::atomic<std::int64_t>> count;
  AVBufferRef* buffer = nullptr;
  std::int64_t bytes = 0;
};

}  // namespace

std::int64_t frame_memory_for(std::optional<std::int64_t> file_bytes) {
  if (!file_bytes) return kMostBytes;
  const std::int64_t files = std::min(*file_bytes, kMostBytes / kBytesForEachOfTheFile);
  return std::clamp(files * kBytesForEachOfTheFile, kLeastBytes, kMostBytes);
}

std::int64_t pixels_for_any_codec(std::int64_t frame_bytes) {
  return frame_bytes / kBytesForAnyCodec;
}

void FrameMemory::attach(AVCodecContext& codec) {
  codec.opaque = this;
  codec.get_buffer2 = &FrameMemory::on_get_buffer;
}

int FrameMemory::on_get_buffer(AVCodecContext* codec, AVFrame* frame, int flags) {
  auto& self = *static_cast<FrameMemory*>(codec->opaque);
  if (!self.fits(*codec, *frame)) {
    self.exceeded_ = true;
    return AVERROR(EINVAL);
  }
  const int result = avcodec_default_get_buffer2(codec, frame, flags);
  return result < 0 ? result : self.count_buffers(*frame);
}

// Each thread beyond the first may work on a frame of its own.
bool FrameMemory::fits(const AVCodecContext& codec, const AVFrame& frame) const {
  const std::int64_t more = std::max<std::int64_t>(bytes_of(codec, frame), 0);
  const std::int64_t for_threads = more * std::max(codec.thread_count - 1, 0);
  return *held_bytes_ + more <= limit_bytes_ + for_threads;
}

// Puts a buffer around each of the frame's that tells when it is given back.
int FrameMemory::count_buffers(AVFrame& frame) const {
  for (AVBufferRef*& buffer : frame.buf) {
    if (buffer == nullptr) continue;
    auto held =
        std::make_unique<Held>(Held{held_bytes_, buffer, static_cast<std::int64_t>(buffer->size)});
    AVBufferRef* counted =
        av_buffer_create(buffer->data, buffer->size, &FrameMemory::on_free, held.get(), 0);
    if (counted == nullptr) {
      av_frame_unref(&frame);
      return AVERROR(ENOMEM);
    }
    *held_bytes_ += held.release()->bytes;
    buffer = counted;
  }
  return 0;
}

void FrameMemory::on_free(void* opaque, std::uint8_t*) {
  const std::unique_ptr<Held> held(static_cast<Held*>(opaque));
  *held->count -= held->bytes;
  av_buffer_unref(&held->buffer);
}

}  // namespace av_fusion
