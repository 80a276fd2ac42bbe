// Copyright 2026 The av_fusion authors. SPDX-License-Identifier: Apache-2.0
#include "stream_list.h"

#include <cstdio>

#include "printable.h"

namespace av_align {
namespace {

using av_fusion::StreamInfo;

std::string number(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.6g", value);
  return text;
}

std::string video_text(const StreamInfo& stream) {
  std::string text =
      ", " + std::to_string(stream.display_width) + "x" + std::to_string(stream.display_height);
  if (stream.average_fps > 0) text += ", " + number(stream.average_fps) + " pictures a second";
  if (stream.rotation_deg != 0) text += ", turned by " + std::to_string(stream.rotation_deg);
  if (stream.is_still) text += ", a still picture";
  return text;
}

std::string audio_text(const StreamInfo& stream) {
  std::string text = ", " + std::to_string(stream.sample_rate_hz) + " Hz";
  text += ", " +
          (stream.layout.empty() ? std::to_string(stream.channels) + " channels" : stream.layout);
  return text;
}

std::string stream_line(const StreamInfo& stream, bool is_used) {
  const bool is_video = stream.kind == StreamInfo::Kind::kVideo;
  const bool is_audio = stream.kind == StreamInfo::Kind::kAudio;
  std::string line = std::to_string(stream.index);
  line += is_video ? " video " : is_audio ? " audio " : " other ";
  line += stream.codec.empty() ? "unknown" : stream.codec;
  if (is_video) line += video_text(stream);
  if (is_audio) line += audio_text(stream);
  if (stream.start) line += ", starts at " + number(stream.start->seconds()) + " s";
  if (!stream.language.empty()) line += ", " + stream.language;
  if (!stream.title.empty()) line += ", \"" + stream.title + "\"";
  if (stream.is_default) line += ", default";
  if ((is_video || is_audio) && !stream.decodable) line += ", cannot be decoded";
  if (is_used) line += ", used";
  return printable(line) + "\n";
}

}  // namespace

std::string stream_list(const av_fusion::MediaInfo& info) {
  std::string text;
  for (const StreamInfo& stream : info.streams) {
    const bool is_used = stream.index == info.video || stream.index == info.audio;
    text += stream_line(stream, is_used);
  }
  return text;
}

}  // namespace av_align
