// Copyright 2026 The av_fusion authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>

#include "av_fusion/align_session_internal.h"
#include "av_fusion/aligner_options.h"
#include "av_fusion/media/media_reader.h"

namespace av_fusion {

/// Feeds a session from a file. Used once, by one thread.
class FileFeed {
 public:
  /// All references must outlive the feed.
  FileFeed(MediaReader& reader, AlignSession& session, const AlignerOptions& options);

  /// Reads to the end, or until the progress callback asks to stop. Throws as `Aligner::align`.
  Alignment run();

  bool cancelled() const noexcept { return cancelled_; }
  MediaDuration analysed() const;  ///< from the first to the last picture or sound

 private:
  std::optional<MediaReader::Event> next();
  void report_progress();

  MediaReader& reader_;
  AlignSession& session_;
  const AlignerOptions& options_;
  bool cancelled_ = false;
  std::chrono::steady_clock::time_point begun_;
  std::chrono::steady_clock::time_point last_progress_;
};

}  // namespace av_fusion
