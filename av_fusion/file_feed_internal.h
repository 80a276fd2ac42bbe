// Copyright 2026 The av_fusion authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>

#include "av_fusion/align_session_internal.h"
#include "av_fusion/aligner_options.h"
#include "av_fusion/media/media_reader.h"
#include "av_fusion/read_ahead_internal.h"
#include "av_fusion/remark_relay_internal.h"

namespace av_fusion {

/// Feeds a session from a file, which a thread of its own reads if the options allow two. Used
/// once, by one thread.
class FileFeed {
 public:
  /// All references must outlive the feed. `relay` has the remarks of `reader`.
  FileFeed(MediaReader& reader, RemarkRelay& relay, AlignSession& session,
           const AlignerOptions& options);

  /// Reads to the end, or until the progress callback asks to stop. Throws as `Aligner::align`.
  void run();

  bool cancelled() const noexcept { return cancelled_; }
  /// From the first to the last picture or sound.
  MediaDuration analysed() const noexcept { return analysed_; }

 private:
  void feed();
  std::optional<MediaReader::Event> next();
  std::optional<MediaReader::Event> next_ahead();
  void report_progress();

  MediaReader& reader_;
  RemarkRelay& relay_;
  AlignSession& session_;
  const AlignerOptions& options_;
  std::optional<ReadAhead> ahead_;
  MediaDuration analysed_;
  bool cancelled_ = false;
  std::chrono::steady_clock::time_point begun_;
  std::chrono::steady_clock::time_point last_progress_;
};

}  // namespace av_fusion
