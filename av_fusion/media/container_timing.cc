// Copyright 2026 The av_fusion authors. SPDX-License-Identifier: Apache-2.0
extern "C" {
#include <libavutil/common.h>
#include <libavutil/intreadwrite.h>
}

#include <optional>
#include <string_view>

#include "av_fusion/core/error.h"
#include "av_fusion/media/container_timing_internal.h"

namespace av_fusion {
namespace {

// Where a stream begins: its first packet, of video the first one that can be shown.
struct Beginning {
  std::int64_t pts = 0;
  std::int64_t dts = 0;
  std::int64_t position = -1;  // in the file
  std::int64_t priming = 0;    // samples
};

struct Beginnings {
  std::optional<Beginning> video;
  std::optional<Beginning> audio;
};

Beginning beginning_at(const AVPacket& packet, const AVStream& stream) {
  const std::int64_t dts = packet.dts != AV_NOPTS_VALUE ? packet.dts : packet.pts;
  return {packet.pts, dts, packet.pos, priming_samples(packet, *stream.codecpar)};
}

Beginnings find_beginnings(InputFile& file, PacketQueue& packets, const MediaInfo& info) {
  Beginnings found;
  packets.look_ahead([&](const AVPacket& packet) {
    if (packet.pts == AV_NOPTS_VALUE) return false;
    const bool is_key = (packet.flags & AV_PKT_FLAG_KEY) != 0;
    const AVStream& stream = *file.stream(packet.stream_index);
    if (packet.stream_index == info.video && is_key && !found.video) {
      found.video = beginning_at(packet, stream);
    } else if (packet.stream_index == info.audio && !found.audio) {
      found.audio = beginning_at(packet, stream);
    }
    return (found.video || !info.video) && (found.audio || !info.audio);
  });
  return found;
}

bool may_have_edit_lists(const InputFile& file) {
  return std::string_view(file.format()->iformat->name).substr(0, 4) == "mov,";
}

// The decoding time that the index gives to the packet at `position`.
std::optional<std::int64_t> indexed_dts(AVStream& stream, std::int64_t position) {
  const int count = avformat_index_get_entries_count(&stream);
  for (int i = 0; i < count; ++i) {
    const AVIndexEntry* entry = avformat_index_get_entry(&stream, i);
    if (entry != nullptr && entry->pos == position) return entry->timestamp;
  }
  return std::nullopt;
}

// When `stored`, the beginning of a stream without its edit list, would be presented. `obeyed` is
// the beginning with it: found in the index of the other, it shows how the edit list moves times.
std::optional<std::int64_t> presented(const Beginning& stored, const Beginning& obeyed,
                                      AVStream& stream) {
  if (stored.position < 0 || obeyed.position < 0) return std::nullopt;
  if (stored.position == obeyed.position) return obeyed.pts;
  const std::optional<std::int64_t> dts = indexed_dts(stream, obeyed.position);
  if (!dts) return std::nullopt;
  return av_sat_add64(stored.pts, av_sat_sub64(obeyed.dts, *dts));
}

bool is_edited(const std::optional<Beginning>& stored, const std::optional<Beginning>& obeyed) {
  return stored && obeyed && (stored->pts != obeyed->pts || stored->position != obeyed->position);
}

// One stream of the two openings of a file.
std::optional<MediaTime> stored_time(const std::optional<Beginning>& stored,
                                     const std::optional<Beginning>& obeyed,
                                     std::optional<int> index, const InputFile& raw) {
  if (!stored || !obeyed) return std::nullopt;
  AVStream& stream = *raw.stream(*index);
  const std::optional<std::int64_t> pts = presented(*stored, *obeyed, stream);
  if (!pts) return std::nullopt;
  return MediaTime{to_us(*pts, stream.time_base)};
}

void look_behind_edit_lists(const Beginnings& obeyed, const MediaInfo& info,
                            const MediaSource& source, std::int64_t max_pixels,
                            ContainerTiming& timing) {
  InputFile raw(source, max_pixels, InputFile::EditLists::kIgnored);
  if (raw.stream_count() != static_cast<int>(info.streams.size())) return;
  PacketQueue packets(raw);
  const Beginnings stored = find_beginnings(raw, packets, info);
  packets.rethrow_source_error();
  timing.first_stored_picture = stored_time(stored.video, obeyed.video, info.video, raw);
  timing.first_stored_sample = stored_time(stored.audio, obeyed.audio, info.audio, raw);
  if (!timing.first_stored_picture && !timing.first_stored_sample) return;
  timing.edit_list = is_edited(stored.video, obeyed.video) || is_edited(stored.audio, obeyed.audio);
}

std::optional<MediaTime> time_of(const std::optional<Beginning>& beginning,
                                 std::optional<int> index, const InputFile& file) {
  if (!beginning) return std::nullopt;
  return MediaTime{to_us(beginning->pts, file.stream(*index)->time_base)};
}

}  // namespace

std::int64_t priming_samples(const AVPacket& first, const AVCodecParameters& codec) {
  std::size_t size = 0;
  const std::uint8_t* data = av_packet_get_side_data(&first, AV_PKT_DATA_SKIP_SAMPLES, &size);
  if (data != nullptr && size >= 4) return AV_RL32(data);
  return first.pts < 0 ? codec.initial_padding : 0;  // Opus: the decoder drops it
}

ContainerTiming find_timing(InputFile& file, PacketQueue& packets, const MediaInfo& info,
                            const MediaSource& source, std::int64_t max_pixels) {
  ContainerTiming timing;
  const Beginnings obeyed = find_beginnings(file, packets, info);
  if (obeyed.audio) {
    const AVCodecParameters& codec = *file.stream(*info.audio)->codecpar;
    if (codec.sample_rate > 0) {
      timing.audio_priming.us = to_us(obeyed.audio->priming, AVRational{1, codec.sample_rate});
    }
  }
  if (!may_have_edit_lists(file)) {
    timing.edit_list = false;
    timing.first_stored_picture = time_of(obeyed.video, info.video, file);
    timing.first_stored_sample = time_of(obeyed.audio, info.audio, file);
  } else if (file.can_seek()) {
    try {
      look_behind_edit_lists(obeyed, info, source, max_pixels, timing);
    } catch (const Error& error) {
      if (error.code() != ErrorCode::kUnsupported && error.code() != ErrorCode::kCorruptData) throw;
    }
    file.resume();
  }
  return timing;
}

}  // namespace av_fusion
