// Copyright 2026 The av_fusion authors. SPDX-License-Identifier: Apache-2.0
#include "progress_line.h"

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <string>

namespace av_align {
namespace {

std::string clock_text(double seconds) {
  const long whole = std::max(0L, static_cast<long>(seconds));
  char text[32];
  std::snprintf(text, sizeof text, "%ld:%02ld:%02ld", whole / 3600, whole / 60 % 60, whole % 60);
  return text;
}

}  // namespace

ProgressLine::ProgressLine() : is_terminal_(isatty(STDERR_FILENO) == 1) {}

void ProgressLine::show(const av_fusion::AlignProgress& progress) {
  if (!is_terminal_) return;
  std::string line = clock_text(progress.position.seconds());
  if (progress.length) line += " of " + clock_text(progress.length->seconds());
  char speed[32];
  std::snprintf(speed, sizeof speed, ", %.1f x real time", progress.speed_x_realtime);
  line += speed;
  if (progress.length && progress.speed_x_realtime > 0) {
    const double left_s = (*progress.length - progress.position).seconds();
    line += ", " + clock_text(left_s / progress.speed_x_realtime) + " left";
  }
  show(line);
}

void ProgressLine::show(const std::string& text) {
  if (!is_terminal_) return;
  std::fprintf(stderr, "\r%s\033[K", text.c_str());
  std::fflush(stderr);
  is_dirty_ = true;
}

void ProgressLine::clear() {
  if (is_dirty_) std::fputs("\r\033[K", stderr);
  is_dirty_ = false;
}

}  // namespace av_align
