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

bool is_edited(const std::optional<Beginning>& ignored, const std::optional<Beginning>& obeyed) {
  return ignored && obeyed &&
         (ignored->pts != obeyed->pts || ignored->position != obeyed->position);
}

std::optional<MediaTime> time_of(const std::optional<Beginning>& beginning,
                                 std::optional<int> index, const InputFile& file) {
  if (!beginning) return std::nullopt;
  return MediaTime{to_us(beginning->pts, file.stream(*index)->time_base)};
}

void set_stored(const Beginnings& stored, const MediaInfo& info, const InputFile& file,
                ContainerTiming& timing) {
  timing.first_stored_picture = time_of(stored.video, info.video, file);
  timing.first_stored_sample = time_of(stored.audio, info.audio, file);
}

// How far `obeyed`, where a stream begins with its edit list, is from its exact place on the time
// line. `shifted` is the beginning of the same stream in `exact`, opened with that time line.
std::int64_t deviation(const std::optional<Beginning>& shifted,
                       const std::optional<Beginning>& obeyed, std::optional<int> index,
                       const InputFile& exact) {
  if (!shifted || !obeyed || shifted->position < 0 || obeyed->position < 0) return 0;
  if (shifted->position == obeyed->position) return av_sat_sub64(shifted->pts, obeyed->pts);
  const std::optional<std::int64_t> dts = indexed_dts(*exact.stream(*index), obeyed->position);
  return dts ? av_sat_sub64(*dts, obeyed->dts) : 0;
}

// Opens `source` again, with its edit lists treated in another way.
class Reopened {
 public:
  Reopened(const MediaSource& source, std::int64_t max_pixels, InputFile::EditLists edit_lists,
           const MediaInfo& info)
      : file_(source, max_pixels, edit_lists), packets_(file_) {
    if (file_.stream_count() != static_cast<int>(info.streams.size())) return;
    beginnings_ = find_beginnings(file_, packets_, info);
    packets_.rethrow_source_error();
  }

  const InputFile& file() const { return file_; }
  const Beginnings& beginnings() const { return beginnings_; }

 private:
  InputFile file_;
  PacketQueue packets_;
  Beginnings beginnings_;
};

void look_behind_edit_lists(const Beginnings& obeyed, MediaInfo& info, const MediaSource& source,
                            std::int64_t max_pixels, PacketQueue& packets) {
  ContainerTiming& timing = info.timing;
  const Reopened raw(source, max_pixels, InputFile::EditLists::kIgnored, info);
  const Beginnings& ignored = raw.beginnings();
  if (!ignored.video && !ignored.audio) return;
  timing.edit_list =
      is_edited(ignored.video, obeyed.video) || is_edited(ignored.audio, obeyed.audio);
  if (!*timing.edit_list) return set_stored(ignored, info, raw.file(), timing);

  const Reopened exact(source, max_pixels, InputFile::EditLists::kShifted, info);
  const Beginnings& shifted = exact.beginnings();
  set_stored(shifted, info, exact.file(), timing);
  const auto correct = [&](std::optional<int> index, std::int64_t ticks) {
    if (ticks == 0) return;
    packets.shift(*index, ticks);
    std::optional<MediaTime>& start = info.streams[static_cast<std::size_t>(*index)].start;
    const AVRational time_base = exact.file().stream(*index)->time_base;
    if (start) *start = *start + MediaDuration{to_us(ticks, time_base)};
  };
  correct(info.video, deviation(shifted.video, obeyed.video, info.video, exact.file()));
  correct(info.audio, deviation(shifted.audio, obeyed.audio, info.audio, exact.file()));
}

}  // namespace

std::int64_t priming_samples(const AVPacket& first, const AVCodecParameters& codec) {
  std::size_t size = 0;
  const std::uint8_t* data = av_packet_get_side_data(&first, AV_PKT_DATA_SKIP_SAMPLES, &size);
  if (data != nullptr && size >= 4) return AV_RL32(data);
  return first.pts < 0 ? codec.initial_padding : 0;  // Opus: the decoder drops it
}

void find_timing(InputFile& file, PacketQueue& packets, MediaInfo& info, const MediaSource& source,
                 std::int64_t max_pixels) {
  ContainerTiming& timing = info.timing;
  const Beginnings obeyed = find_beginnings(file, packets, info);
  if (obeyed.audio) {
    const AVCodecParameters& codec = *file.stream(*info.audio)->codecpar;
    if (codec.sample_rate > 0) {
      timing.audio_priming.us = to_us(obeyed.audio->priming, AVRational{1, codec.sample_rate});
    }
  }
  if (!may_have_edit_lists(file)) {
    timing.edit_list = false;
    set_stored(obeyed, info, file, timing);
  } else if (file.can_seek()) {
    try {
      look_behind_edit_lists(obeyed, info, source, max_pixels, packets);
    } catch (const Error& error) {
      if (error.code() != ErrorCode::kUnsupported && error.code() != ErrorCode::kCorruptData) throw;
    }
    file.resume();
  }
}

}  // namespace av_fusion
