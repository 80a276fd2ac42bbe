// Copyright 2026 The av_fusion authors. SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>
#include <tuple>

#include "av_fusion/core/error.h"
#include "av_fusion/media/picture_geometry_internal.h"
#include "av_fusion/media/stream_choice_internal.h"

namespace av_fusion {
namespace {

using Kind = StreamInfo::Kind;

constexpr int kStillDispositions =
    AV_DISPOSITION_ATTACHED_PIC | AV_DISPOSITION_TIMED_THUMBNAILS | AV_DISPOSITION_STILL_IMAGE;

// Codecs of single pictures, which also serve as cheap video codecs.
constexpr std::array<std::string_view, 8> kImageCodecs = {"mjpeg", "png",      "bmp",  "gif",
                                                          "webp",  "jpeg2000", "tiff", "ljpeg"};

std::string tag(const AVStream& stream, const char* key) {
  const AVDictionaryEntry* entry = av_dict_get(stream.metadata, key, nullptr, 0);
  return entry == nullptr ? std::string() : entry->value;
}

bool is_image_codec(const std::string& codec) {
  return std::find(kImageCodecs.begin(), kImageCodecs.end(), codec) != kImageCodecs.end();
}

double rate(AVRational fraction) {
  return fraction.num > 0 && fraction.den > 0 ? av_q2d(fraction) : 0;
}

void describe_video(const InputFile& file, AVStream* stream, StreamInfo& info) {
  PictureSize stored{stream->codecpar->width, stream->codecpar->height};
  if (stored == PictureSize{}) stored = file.declared_size(stream->index);
  const Orientation orientation = orientation_of(display_matrix(*stream));
  const AVRational aspect = av_guess_sample_aspect_ratio(file.format(), stream, nullptr);
  const PictureSize shown = orientation.apply(square_pixels(stored, aspect));
  info.coded_width = stored.width;
  info.coded_height = stored.height;
  info.display_width = shown.width;
  info.display_height = shown.height;
  info.rotation_deg = orientation.clockwise_deg();
  info.mirrored = orientation.mirrored();
  info.is_still = (stream->disposition & kStillDispositions) != 0;
  const double average = rate(stream->avg_frame_rate);
  const double base = rate(stream->r_frame_rate);
  info.average_fps = average > 0 ? average : base;
  // A base rate of twice the average is interlaced, not variable.
  info.variable_rate = average > 0 && base > 0 && std::abs(base - average) > 0.01 * average &&
                       std::abs(base - 2 * average) > 0.02 * average;
}

std::string layout_name(const AVChannelLayout& layout) {
  char text[128] = {};
  return av_channel_layout_describe(&layout, text, sizeof(text)) > 0 ? text : std::string();
}

void describe_audio(const AVCodecParameters& codec, StreamInfo& info) {
  info.sample_rate_hz = codec.sample_rate;
  info.channels = codec.ch_layout.nb_channels;
  if (codec.ch_layout.order != AV_CHANNEL_ORDER_UNSPEC) {
    info.layout = layout_name(codec.ch_layout);
    return;
  }
  AVChannelLayout guessed{};
  av_channel_layout_default(&guessed, info.channels);
  info.layout = layout_name(guessed);
  av_channel_layout_uninit(&guessed);
}

StreamInfo describe_stream(const InputFile& file, int index) {
  AVStream* const stream = file.stream(index);
  const AVCodecParameters& codec = *stream->codecpar;
  StreamInfo info;
  info.index = index;
  info.codec = avcodec_get_name(codec.codec_id);
  info.decodable = avcodec_find_decoder(codec.codec_id) != nullptr;
  info.is_default = (stream->disposition & AV_DISPOSITION_DEFAULT) != 0;
  info.language = tag(*stream, "language");
  info.title = tag(*stream, "title");
  if (stream->start_time != AV_NOPTS_VALUE) {
    info.start = MediaTime{to_us(stream->start_time, stream->time_base)};
  }
  if (stream->duration > 0) info.length = MediaDuration{to_us(stream->duration, stream->time_base)};
  if (codec.codec_type == AVMEDIA_TYPE_VIDEO) {
    info.kind = Kind::kVideo;
    describe_video(file, stream, info);
  } else if (codec.codec_type == AVMEDIA_TYPE_AUDIO) {
    info.kind = Kind::kAudio;
    describe_audio(codec, info);
  }
  return info;
}

const char* kind_name(Kind kind) {
  switch (kind) {
    case Kind::kVideo: return "video";
    case Kind::kAudio: return "audio";
    case Kind::kOther: break;
  }
  return "other";
}

std::string list_streams(const MediaInfo& info, Kind kind) {
  std::string list;
  for (const StreamInfo& stream : info.streams) {
    if (stream.kind != kind) continue;
    if (!list.empty()) list += ", ";
    list += std::to_string(stream.index) + " (" + stream.codec;
    if (!stream.language.empty()) list += ", " + stream.language;
    list += ")";
  }
  const std::string name = kind_name(kind);
  return list.empty() ? "there is no " + name + " stream" : name + " streams are: " + list;
}

int asked_stream(const MediaInfo& info, Kind kind, int asked, const std::string& name) {
  const auto number = [&] { return "stream " + std::to_string(asked); };
  if (asked < 0 || asked >= static_cast<int>(info.streams.size())) {
    throw Error(ErrorCode::kNotFound, name,
                number() + " does not exist; " + list_streams(info, kind));
  }
  const StreamInfo& stream = info.streams[static_cast<std::size_t>(asked)];
  if (stream.kind != kind) {
    throw Error(ErrorCode::kNotFound, name,
                number() + " is not " + kind_name(kind) + "; " + list_streams(info, kind));
  }
  if (!stream.decodable) {
    throw Error(ErrorCode::kUnsupported, name,
                number() + ": this FFmpeg has no decoder for " + stream.codec);
  }
  return asked;
}

// Greater is better.
auto merit(const StreamInfo& stream) {
  const std::int64_t size = stream.kind == Kind::kVideo
                                ? std::int64_t{stream.coded_width} * stream.coded_height
                                : stream.channels;
  return std::tuple(size > 0, stream.is_default, size, -stream.index);
}

}  // namespace

MediaInfo describe(const InputFile& file) {
  MediaInfo info;
  info.container = file.format()->iformat->name;
  if (file.format()->duration > 0)
    info.duration = MediaDuration{limited_us(file.format()->duration)};
  for (int index = 0; index < file.stream_count(); ++index) {
    info.streams.push_back(describe_stream(file, index));
  }
  return info;
}

std::vector<int> streams_to_probe(const MediaInfo& info) {
  std::vector<int> candidates;
  bool image_codec = false;
  for (const StreamInfo& stream : info.streams) {
    if (stream.kind != Kind::kVideo || stream.is_still) continue;
    candidates.push_back(stream.index);
    image_codec = image_codec || is_image_codec(stream.codec);
  }
  if (candidates.size() < 2 && !image_codec) candidates.clear();
  return candidates;
}

std::optional<int> choose_stream(const MediaInfo& info, Kind kind, std::optional<int> asked,
                                 const std::string& name) {
  if (asked) return asked_stream(info, kind, *asked, name);
  const StreamInfo* best = nullptr;
  for (const StreamInfo& stream : info.streams) {
    if (stream.kind != kind || stream.is_still || !stream.decodable) continue;
    if (best == nullptr || merit(stream) > merit(*best)) best = &stream;
  }
  return best == nullptr ? std::nullopt : std::optional(best->index);
}

}  // namespace av_fusion
