// Copyright 2026 The av_fusion authors. SPDX-License-Identifier: Apache-2.0
#include "av_fusion/media/timestamp_repair_internal.h"

namespace av_fusion {
namespace {

constexpr std::int64_t kForwardUs = 10'000'000;
constexpr std::int64_t kBackUs = 1'000'000;

bool is_jump(std::int64_t distance_us) {
  return distance_us > kForwardUs || distance_us < -kBackUs;
}

}  // namespace

void TimestampRepair::apply(AVPacket& packet, AVRational time_base) {
  const std::int64_t stamp = packet.dts != AV_NOPTS_VALUE ? packet.dts : packet.pts;
  const auto index = static_cast<std::size_t>(packet.stream_index);
  if (stamp == AV_NOPTS_VALUE || index >= streams_.size()) return;
  Stream& stream = streams_[index];
  const std::int64_t raw_us = to_us(stamp, time_base);
  if (stream.expected_us && is_jump(raw_us + shifts_us_[stream.part] - *stream.expected_us)) {
    ++stream.part;
    if (stream.part == shifts_us_.size())
      shifts_us_.push_back(limited_us(*stream.expected_us - raw_us));
  }
  const std::int64_t shift_us = shifts_us_[stream.part];
  stream.expected_us = limited_us(raw_us + shift_us + to_us(packet.duration, time_base));
  const std::int64_t shift = av_rescale_q(shift_us, kMicroseconds, time_base);
  if (packet.pts != AV_NOPTS_VALUE) packet.pts = av_sat_add64(packet.pts, shift);
  if (packet.dts != AV_NOPTS_VALUE) packet.dts = av_sat_add64(packet.dts, shift);
}

}  // namespace av_fusion
