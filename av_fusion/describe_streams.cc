// Copyright 2026 The av_fusion authors. SPDX-License-Identifier: Apache-2.0
#include "av_fusion/describe_streams.h"

#include <optional>
#include <utility>

namespace av_fusion {
namespace {

StreamDescription::Kind kind_of(StreamInfo::Kind kind) {
  switch (kind) {
    case StreamInfo::Kind::kVideo: return StreamDescription::Kind::kVideo;
    case StreamInfo::Kind::kAudio: return StreamDescription::Kind::kAudio;
    case StreamInfo::Kind::kOther: break;
  }
  return StreamDescription::Kind::kOther;
}

template <typename Time>
std::optional<double> seconds(const std::optional<Time>& time) {
  return time ? std::optional(time->seconds()) : std::nullopt;
}

StreamDescription describe(const StreamInfo& stream) {
  return {.index = stream.index,
          .kind = kind_of(stream.kind),
          .codec = stream.codec,
          .decodable = stream.decodable,
          .is_default = stream.is_default,
          .start_s = seconds(stream.start),
          .duration_s = seconds(stream.length),
          .language = stream.language,
          .title = stream.title,
          .width = stream.display_width,
          .height = stream.display_height,
          .coded_width = stream.coded_width,
          .coded_height = stream.coded_height,
          .average_fps = stream.average_fps,
          .variable_rate = stream.variable_rate,
          .rotation_deg = stream.rotation_deg,
          .mirrored = stream.mirrored,
          .is_still = stream.is_still,
          .sample_rate_hz = stream.sample_rate_hz,
          .channels = stream.channels,
          .layout = stream.layout};
}

}  // namespace

StreamListDescription describe_streams(const MediaInfo& info, std::string path) {
  StreamListDescription list;
  list.path = std::move(path);
  list.container = info.container;
  list.duration_s = seconds(info.duration);
  for (const StreamInfo& stream : info.streams) {
    list.streams.push_back(describe(stream));
    list.streams.back().is_used = stream.index == info.video || stream.index == info.audio;
  }
  return list;
}

}  // namespace av_fusion
