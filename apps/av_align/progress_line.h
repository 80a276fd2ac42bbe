// Copyright 2026 The av_fusion authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "av_fusion/align_progress.h"

namespace av_align {

/// One line on stderr that is written over and over. Shows nothing unless stderr is a terminal.
class ProgressLine {
 public:
  ProgressLine();
  ~ProgressLine() { clear(); }
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;

  bool is_shown() const noexcept { return is_terminal_; }

  /// Position, speed, time left.
  void show(const av_fusion::AlignProgress& progress);

  /// `text`, which must not be longer than the line.
  void show(const std::string& text);

  void clear();

 private:
  bool is_terminal_;
  bool is_dirty_ = false;
};

}  // namespace av_align
