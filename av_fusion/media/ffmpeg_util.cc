// Copyright 2026 The av_fusion authors. SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <limits>

#include "av_fusion/media/ffmpeg_util_internal.h"

namespace av_fusion {

std::string ffmpeg_words(int error) {
  char text[AV_ERROR_MAX_STRING_SIZE] = {};
  av_strerror(error, text, sizeof(text));
  return text;
}

std::int64_t limited_us(std::int64_t us) {
  constexpr std::int64_t kLimitUs = std::int64_t{1} << 60;
  return std::clamp(us, -kLimitUs, kLimitUs);
}

std::int64_t to_us(std::int64_t stamp, AVRational time_base) {
  const std::int64_t us = av_rescale_q_rnd(stamp, time_base, kMicroseconds, AV_ROUND_NEAR_INF);
  const bool overflows = us == std::numeric_limits<std::int64_t>::min();  // FFmpeg's sign for it
  return limited_us(overflows && stamp > 0 ? std::numeric_limits<std::int64_t>::max() : us);
}

std::int64_t frame_duration(const AVFrame& frame) {
#if LIBAVUTIL_VERSION_MAJOR >= 58
  return frame.duration;
#else
  return frame.pkt_duration;
#endif
}

const std::int32_t* display_matrix(const AVStream& stream) {
  constexpr std::size_t kBytes = 9 * sizeof(std::int32_t);
#if LIBAVCODEC_VERSION_INT >= AV_VERSION_INT(60, 31, 100)
  const AVPacketSideData* side =
      av_packet_side_data_get(stream.codecpar->coded_side_data, stream.codecpar->nb_coded_side_data,
                              AV_PKT_DATA_DISPLAYMATRIX);
  if (side == nullptr || side->size < kBytes) return nullptr;
  return reinterpret_cast<const std::int32_t*>(side->data);
#else
  std::size_t size = 0;
  const std::uint8_t* data = av_stream_get_side_data(&stream, AV_PKT_DATA_DISPLAYMATRIX, &size);
  return size < kBytes ? nullptr : reinterpret_cast<const std::int32_t*>(data);
#endif
}

}  // namespace av_fusion
