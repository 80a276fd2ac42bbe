// Copyright 2026 The av_fusion authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include "av_fusion/align_progress.h"

namespace av_align {

/// One line on stderr that is written over and over: position, speed, time left. Shows nothing
/// unless stderr is a terminal.
class ProgressLine {
 public:
  ProgressLine();
  ~ProgressLine() { clear(); }
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;

  bool is_shown() const noexcept { return is_terminal_; }
  void show(const av_fusion::AlignProgress& progress);
  void clear();

 private:
  bool is_terminal_;
  bool is_dirty_ = false;
};

}  // namespace av_align
