// Copyright 2026 The av_fusion authors. SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <optional>

#include "av_fusion/describe_input_internal.h"

namespace av_fusion {
namespace {

/// The container's rate, which is more exact than rounded time stamps, unless it is wrong.
double average_fps(const MediaReader::Stats& stats, double promised) {
  if (stats.pictures < 2) return promised;
  const double distance_s = (*stats.last_picture - *stats.first_picture).seconds();
  const double measured = static_cast<double>(stats.pictures - 1) / distance_s;
  return std::abs(measured - promised) > 0.01 * promised ? measured : promised;
}

VideoDescription describe_video(const MediaReader& reader, const StreamInfo& stream) {
  const MediaReader::Stats& stats = reader.stats();
  VideoDescription video;
  video.stream = stream.index;
  video.codec = stream.codec;
  video.width = stream.display_width;
  video.height = stream.display_height;
  video.average_fps = average_fps(stats, stream.average_fps);
  video.variable_rate = stats.variable_rate;
  video.gaps = stats.video_gaps;
  video.rotation_deg = stream.rotation_deg;
  video.start_s = stream.start.value_or(stats.first_picture.value_or(MediaTime{})).seconds();
  return video;
}

AudioDescription describe_audio(const MediaReader& reader, const StreamInfo& stream) {
  const MediaReader::Stats& stats = reader.stats();
  AudioDescription audio;
  audio.stream = stream.index;
  audio.codec = stream.codec;
  audio.sample_rate_hz = stream.sample_rate_hz;
  audio.channels = stream.channels;
  audio.channel = stats.audio_channel;
  audio.start_s = stream.start.value_or(stats.first_sample.value_or(MediaTime{})).seconds();
  audio.gaps = stats.audio_gaps;
  return audio;
}

ContainerTimingDescription describe_timing(const ContainerTiming& timing,
                                           const InputDescription& input) {
  constexpr MediaDuration kNothing = MediaDuration::from_ms(1);
  const auto seconds = [](const std::optional<MediaTime>& time) {
    return time ? std::optional(time->seconds()) : std::nullopt;
  };
  ContainerTimingDescription result;
  if (input.video) result.video_start_s = input.video->start_s;
  if (input.audio) result.audio_start_s = input.audio->start_s;
  result.video_stored_s = seconds(timing.first_stored_picture);
  result.audio_stored_s = seconds(timing.first_stored_sample);
  if (input.audio) result.audio_priming_ms = timing.audio_priming.ms();
  result.edit_list = timing.edit_list;
  const std::optional<MediaDuration> shift = timing.shift_if_ignored();
  if (shift && (*shift >= kNothing || *shift <= MediaDuration{-kNothing.us})) {
    result.offset_if_ignored_ms = shift->ms();
  }
  return result;
}

double measured_length_s(const MediaReader& reader) {
  const MediaReader::Stats& stats = reader.stats();
  const MediaTime end = std::max(stats.last_picture.value_or(reader.origin()),
                                 stats.end_of_sound.value_or(reader.origin()));
  return std::max(0.0, (end - reader.origin()).seconds());
}

}  // namespace

InputDescription describe_input(const MediaReader& reader, const std::string& name) {
  const MediaInfo& info = reader.info();
  InputDescription input;
  input.path = name;
  input.container = info.container;
  if (info.duration) input.duration_s = info.duration->seconds();
  if (info.video) {
    input.video = describe_video(reader, info.streams.at(static_cast<std::size_t>(*info.video)));
  }
  if (info.audio) {
    input.audio = describe_audio(reader, info.streams.at(static_cast<std::size_t>(*info.audio)));
  }
  input.container_timing = describe_timing(info.timing, input);
  input.truncated = reader.stats().truncated;
  input.clock_jumps = reader.stats().clock_jumps;
  if (input.clock_jumps > 0) input.duration_s = measured_length_s(reader);
  return input;
}

}  // namespace av_fusion
