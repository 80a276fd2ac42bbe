// Copyright 2026 The av_fusion authors. SPDX-License-Identifier: Apache-2.0
#pragma once

extern "C" {
#include <libavcodec/avcodec.h>
#include <libavformat/avformat.h>
#include <libavutil/avutil.h>
#include <libavutil/channel_layout.h>
#include <libavutil/frame.h>
#include <libswresample/swresample.h>
#include <libswscale/swscale.h>
}

#include <cstdint>
#include <memory>
#include <new>
#include <string>

#include "av_fusion/core/media_time.h"

namespace av_fusion {

/// One owner for each kind of FFmpeg object.
struct FfmpegDeleter {
  void operator()(AVIOContext* io) const {
    av_freep(&io->buffer);
    avio_context_free(&io);
  }
  void operator()(AVFormatContext* format) const { avformat_close_input(&format); }
  void operator()(AVCodecContext* codec) const { avcodec_free_context(&codec); }
  void operator()(AVPacket* packet) const { av_packet_free(&packet); }
  void operator()(AVFrame* frame) const { av_frame_free(&frame); }
  void operator()(SwrContext* resampler) const { swr_free(&resampler); }
  void operator()(SwsContext* scaler) const { sws_freeContext(scaler); }
};

template <typename T>
using FfmpegPtr = std::unique_ptr<T, FfmpegDeleter>;

/// Takes over what an FFmpeg allocator returned. Throws `std::bad_alloc` on null.
template <typename T>
FfmpegPtr<T> own(T* object) {
  if (object == nullptr) throw std::bad_alloc();
  return FfmpegPtr<T>(object);
}

inline constexpr AVRational kMicroseconds{1, 1000000};

/// FFmpeg's own words for an error number.
std::string ffmpeg_words(int error);

/// `us` limited to 2^60 (36,000 years) either way. A damaged file may hold any number; of limited
/// ones a few can be added without overflow.
std::int64_t limited_us(std::int64_t us);

/// Microseconds of a time stamp, rounded to the nearest and limited.
std::int64_t to_us(std::int64_t stamp, AVRational time_base);

/// How long a decoded frame lasts in units of its stream's time base; 0 if unknown.
std::int64_t frame_duration(const AVFrame& frame);

/// The stream's display matrix (nine 16.16 numbers, see libavutil/display.h), or null.
const std::int32_t* display_matrix(const AVStream& stream);

}  // namespace av_fusion
