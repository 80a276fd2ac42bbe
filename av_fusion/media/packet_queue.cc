// Copyright 2026 The av_fusion authors. SPDX-License-Identifier: Apache-2.0
extern "C" {
#include <libavutil/common.h>
}

#include <algorithm>
#include <cstring>
#include <exception>
#include <new>
#include <utility>

#include "av_fusion/media/packet_queue_internal.h"

namespace av_fusion {
namespace {

constexpr int kMaxErrorsInARow = 16;
constexpr std::size_t kMaxQueuedPackets = 4096;
constexpr std::int64_t kMaxQueuedBytes = std::int64_t{64} << 20;

bool has_restarting_clock(const InputFile& file) {
  return (file.format()->iformat->flags & AVFMT_TS_DISCONT) != 0;
}

// A transport stream is a row of packets of one size; a piece of one at the end is a cut.
bool ends_inside_a_transport_packet(const InputFile& file) {
  const std::optional<std::int64_t> size = file.size_bytes();
  if (!size || std::strcmp(file.format()->iformat->name, "mpegts") != 0) return false;
  return *size % 188 != 0 && *size % 192 != 0 && *size % 204 != 0;
}

void add_to_stamps(AVPacket& packet, std::int64_t ticks) {
  if (packet.pts != AV_NOPTS_VALUE) packet.pts = av_sat_add64(packet.pts, ticks);
  if (packet.dts != AV_NOPTS_VALUE) packet.dts = av_sat_add64(packet.dts, ticks);
}

}  // namespace

PacketQueue::PacketQueue(InputFile& file)
    : file_(file),
      shifts_(static_cast<std::size_t>(file.stream_count())),
      ends_us_(static_cast<std::size_t>(file.stream_count())),
      broken_off_(static_cast<std::size_t>(file.stream_count())) {
  if (has_restarting_clock(file)) repair_.emplace(file.stream_count());
}

FfmpegPtr<AVPacket> PacketQueue::next() {
  if (queue_.empty()) {
    rethrow_source_error();
    return read();
  }
  FfmpegPtr<AVPacket> packet = std::move(queue_.front());
  queue_.pop_front();
  return packet;
}

void PacketQueue::rethrow_source_error() {
  if (source_error_) std::rethrow_exception(std::exchange(source_error_, nullptr));
}

bool PacketQueue::look_ahead(const std::function<bool(const AVPacket&)>& enough) {
  std::int64_t bytes = 0;
  for (const FfmpegPtr<AVPacket>& packet : queue_) {
    bytes += packet->size;
    if (enough(*packet)) return true;
  }
  while (queue_.size() < kMaxQueuedPackets && bytes < kMaxQueuedBytes && !source_error_) {
    FfmpegPtr<AVPacket> packet;
    try {
      packet = read();
    } catch (const std::bad_alloc&) {
      throw;
    } catch (...) {
      source_error_ = std::current_exception();
    }
    if (packet == nullptr) return false;
    bytes += packet->size;
    queue_.push_back(std::move(packet));
    if (enough(*queue_.back())) return true;
  }
  return false;
}

bool PacketQueue::seek(int stream, std::int64_t time_us) {
  if (!file_.seek(stream, time_us)) return false;
  queue_.clear();
  source_error_ = nullptr;
  at_end_ = false;
  read_error_ = false;
  if (repair_) repair_.emplace(file_.stream_count());
  return true;
}

void PacketQueue::shift(int stream, std::int64_t ticks) {
  for (const FfmpegPtr<AVPacket>& packet : queue_) {
    if (packet->stream_index == stream) add_to_stamps(*packet, ticks);
  }
  shifts_.at(static_cast<std::size_t>(stream)) += ticks;
}

void PacketQueue::apply_shift(AVPacket& packet) const {
  const auto index = static_cast<std::size_t>(packet.stream_index);
  if (index < shifts_.size() && shifts_[index] != 0) add_to_stamps(packet, shifts_[index]);
}

FfmpegPtr<AVPacket> PacketQueue::read() {
  FfmpegPtr<AVPacket> packet = own(av_packet_alloc());
  for (int errors = 0; !at_end_ && errors < kMaxErrorsInARow;) {
    const int result = file_.read_packet(packet.get());
    if (result >= 0) {
      apply_shift(*packet);
      if (repair_) repair_->apply(*packet, file_.stream(packet->stream_index)->time_base);
      note_end(*packet);
      return packet;
    }
    if (result == AVERROR_EOF) {
      at_end_ = true;
    } else if (result != AVERROR(EAGAIN) || ++errors == kMaxErrorsInARow) {
      read_error_ = true;
      errors += result == AVERROR_INVALIDDATA ? 1 : kMaxErrorsInARow;
    }
  }
  at_end_ = true;
  return nullptr;
}

void PacketQueue::note_end(const AVPacket& packet) {
  const auto index = static_cast<std::size_t>(packet.stream_index);
  if (index >= ends_us_.size()) return;  // a stream that appeared on the way
  broken_off_[index] = (packet.flags & AV_PKT_FLAG_CORRUPT) != 0;
  const std::int64_t stamp = packet.pts != AV_NOPTS_VALUE ? packet.pts : packet.dts;
  if (stamp == AV_NOPTS_VALUE) return;
  const std::int64_t end_us =
      to_us(av_sat_add64(stamp, packet.duration), file_.stream(packet.stream_index)->time_base);
  ends_us_[index] = std::max(ends_us_[index].value_or(end_us), end_us);
}

bool PacketQueue::is_short(std::int64_t promised_us, std::int64_t end_us) const {
  const std::int64_t slack_us = std::clamp<std::int64_t>(promised_us / 100, 500'000, 5'000'000);
  return end_us < promised_us - slack_us;
}

bool PacketQueue::truncated() const {
  if (read_error_ || ends_inside_a_transport_packet(file_)) return true;
  if (std::find(broken_off_.begin(), broken_off_.end(), true) != broken_off_.end()) return true;
  AVFormatContext* const format = file_.format();
  if (format->pb != nullptr && format->pb->error < 0) return true;
  if (format->duration_estimation_method != AVFMT_DURATION_FROM_STREAM) return false;
  std::optional<std::int64_t> end_us;
  for (std::size_t index = 0; index < ends_us_.size(); ++index) {
    if (!ends_us_[index]) continue;
    end_us = std::max(end_us.value_or(*ends_us_[index]), *ends_us_[index]);
    const AVStream& stream = *format->streams[index];
    if (stream.duration <= 0 || stream.start_time == AV_NOPTS_VALUE) continue;
    const std::int64_t promised_us =
        to_us(av_sat_add64(stream.start_time, stream.duration), stream.time_base);
    if (is_short(promised_us, *ends_us_[index])) return true;
  }
  if (!end_us || format->duration <= 0) return false;
  const std::int64_t start_us = format->start_time != AV_NOPTS_VALUE ? format->start_time : 0;
  return is_short(limited_us(start_us) + limited_us(format->duration), *end_us);
}

}  // namespace av_fusion
