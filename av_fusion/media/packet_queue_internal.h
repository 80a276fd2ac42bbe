// Copyright 2026 The av_fusion authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <deque>
#include <exception>
#include <functional>
#include <optional>
#include <vector>

#include "av_fusion/media/input_file_internal.h"
#include "av_fusion/media/timestamp_repair_internal.h"

namespace av_fusion {

/// The packets of a file in order, with a bounded look ahead. Knows at the end whether the file
/// was cut short.
class PacketQueue {
 public:
  explicit PacketQueue(InputFile& file);

  /// The next packet of any stream, or null at the end.
  FfmpegPtr<AVPacket> next();

  /// Looks through the queue and reads ahead until `enough` says so of a packet, or to the end or
  /// the bound (4096 packets, 64 MiB). The packets stay in the queue. True if `enough` was content.
  /// What the source throws meanwhile is thrown by `next` in the place of the packet.
  bool look_ahead(const std::function<bool(const AVPacket&)>& enough);

  /// Throws at once what the source has thrown during a look ahead, if anything.
  void rethrow_source_error();

  /// Throws the queue away and goes to the last key frame of `stream` (-1: any) not after
  /// `time_us`.
  bool seek(int stream, std::int64_t time_us);

  /// Adds `ticks` (of the stream's time base) to the time stamps of `stream`, queued and to come.
  void shift(int stream, std::int64_t ticks);

  /// After the end: a read error, or clearly less than the container promised.
  bool truncated() const;

  int clock_jumps() const { return repair_ ? repair_->jumps() : 0; }

 private:
  FfmpegPtr<AVPacket> read();
  void apply_shift(AVPacket& packet) const;
  void note_end(const AVPacket& packet);
  bool is_short(std::int64_t promised_us, std::int64_t end_us) const;

  InputFile& file_;
  std::deque<FfmpegPtr<AVPacket>> queue_;
  std::optional<TimestampRepair> repair_;
  std::vector<std::int64_t> shifts_;                  // of each stream, in its ticks
  std::vector<std::optional<std::int64_t>> ends_us_;  // of each stream, as delivered
  std::vector<bool> broken_off_;     // the last packet of each stream came incomplete
  std::exception_ptr source_error_;  // thrown by the source during a look ahead
  bool at_end_ = false;
  bool read_error_ = false;
};

}  // namespace av_fusion
