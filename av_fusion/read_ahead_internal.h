// Copyright 2026 The av_fusion authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <exception>
#include <optional>
#include <thread>

#include "av_fusion/core/media_time.h"
#include "av_fusion/media/media_reader.h"
#include "av_fusion/remark_relay_internal.h"
#include "av_fusion/spsc_queue_internal.h"

namespace av_fusion {

/// From the first to the last picture or sound that was handed out.
MediaDuration length_of(const MediaReader::Stats& stats);

/// Runs a reader on a thread of its own, a few pictures ahead of who asks for them. From
/// construction to destruction nobody else may use the reader or the relay.
class ReadAhead {
 public:
  struct Item {
    std::optional<MediaReader::Event> event;  ///< nothing: the end, or a failure
    std::exception_ptr failure;               ///< what `MediaReader::next` threw
    MediaDuration position;                   ///< `length_of` the reader's numbers after it
    RemarkRelay::Remarks remarks;             ///< made meanwhile
  };

  ReadAhead(MediaReader& reader, RemarkRelay& relay);
  ~ReadAhead();  ///< waits for the piece that is being read
  ReadAhead(const ReadAhead&) = delete;
  ReadAhead& operator=(const ReadAhead&) = delete;

  /// The next piece; not to be called again after the end or a failure.
  Item next() { return queue_.pop(); }

 private:
  static constexpr std::uint32_t kPiecesAhead = 8;

  void run();
  Item read();

  MediaReader& reader_;
  RemarkRelay& relay_;
  SpscQueue<Item, kPiecesAhead> queue_;
  std::thread thread_;
};

}  // namespace av_fusion
