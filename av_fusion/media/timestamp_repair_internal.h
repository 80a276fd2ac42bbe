// Copyright 2026 The av_fusion authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "av_fusion/media/ffmpeg_util_internal.h"

namespace av_fusion {

/// Joins the parts of a transport stream whose clock was restarted (cut and joined recordings).
///
/// When a stream's decoding time jumps by more than 10 s, or back by more than 1 s, the packets
/// from there on are moved so that it goes on where it stopped. The other streams are moved by the
/// same amount when they reach the same jump, so sound and picture keep their relation.
class TimestampRepair {
 public:
  explicit TimestampRepair(int stream_count) : streams_(static_cast<std::size_t>(stream_count)) {}

  /// Corrects the time stamps of a packet, to be called in the order of the file.
  void apply(AVPacket& packet, AVRational time_base);

  int jumps() const { return static_cast<int>(shifts_us_.size()) - 1; }

 private:
  struct Stream {
    std::size_t part = 0;
    std::optional<std::int64_t> expected_us;  // after correction
  };

  std::vector<std::int64_t> shifts_us_{0};  // element i belongs to part i
  std::vector<Stream> streams_;
};

}  // namespace av_fusion
