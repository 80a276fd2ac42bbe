// Copyright 2026 The av_fusion authors. SPDX-License-Identifier: Apache-2.0
#include "av_fusion/media/ffmpeg_log.h"

extern "C" {
#include <libavutil/log.h>
}

#include <cstdarg>
#include <mutex>
#include <string_view>
#include <utility>

namespace av_fusion {
namespace {

struct Log {
  std::mutex mutex;
  LogSink sink;
  int print_prefix = 1;  // FFmpeg's memory of whether the next text begins a line
};

// Never destroyed: FFmpeg may log while the process ends.
Log& the_log() {
  static Log* const log = new Log;
  return *log;
}

LogLevel translate(int level) {
  if (level <= AV_LOG_WARNING) return LogLevel::kWarning;
  return level <= AV_LOG_INFO ? LogLevel::kInfo : LogLevel::kDebug;
}

void on_log(void* object, int level, const char* format, std::va_list arguments) {
  if (level >= 0) level &= 0xff;  // the rest is a colour
  if (level > av_log_get_level()) return;
  Log& log = the_log();
  const std::scoped_lock lock(log.mutex);
  if (!log.sink) return;
  char line[1024];
  av_log_format_line2(object, level, format, arguments, line, sizeof(line), &log.print_prefix);
  std::string_view text(line);
  while (!text.empty() && (text.back() == '\n' || text.back() == '\r')) text.remove_suffix(1);
  if (text.empty()) return;
  try {
    log.sink(translate(level), text);
  } catch (...) {  // nothing may unwind through FFmpeg; a remark is not worth more
  }
}

}  // namespace

void set_ffmpeg_log_sink(LogSink sink) {
  Log& log = the_log();
  const std::scoped_lock lock(log.mutex);
  log.sink = std::move(sink);
  av_log_set_callback(&on_log);
}

}  // namespace av_fusion
