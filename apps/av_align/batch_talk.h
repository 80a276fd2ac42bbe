// Copyright 2026 The av_fusion authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <mutex>
#include <string>

#include "progress_line.h"

namespace av_align {

/// What a batch says on stderr. Thread-safe.
class BatchTalk {
 public:
  /// `quiet`: only complaints.
  BatchTalk(bool quiet, std::size_t num_files) : quiet_(quiet), num_files_(num_files) {}

  /// Work begins on the file `number`, from 1.
  void show(std::size_t number, const std::string& input);

  /// Takes the progress away, before something else is written to the terminal.
  void make_room();

  void note(const std::string& text);
  void complain(const std::string& text);

  /// The last line.
  void finish(const std::string& summary);

 private:
  void say(const std::string& text);

  std::mutex mutex_;
  ProgressLine progress_;  // guarded by mutex_
  const bool quiet_;
  const std::size_t num_files_;
};

}  // namespace av_align
