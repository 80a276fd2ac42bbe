// Copyright 2026 The av_fusion authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>

namespace av_align {

/// Counts what became of the files of a batch. Files have the exit codes they would have alone,
/// `kExitUnreadableInput` for any failure. Not thread-safe.
class BatchTally {
 public:
  void add(int exit_code);

  /// A file that was done before.
  void skip(int exit_code);

  /// Files counted by `add`.
  std::size_t done() const noexcept { return measured_ + not_measured_ + failed_; }

  /// The highest of all exit codes, the skipped files' too; 0 without files.
  int worst_exit_code() const noexcept { return worst_; }

  /// "480 measured (2 outside the tolerance), 12 not measured, 3 failed, 5 skipped".
  std::string summary() const;

 private:
  std::size_t measured_ = 0;
  std::size_t outside_ = 0;  // of those measured
  std::size_t not_measured_ = 0;
  std::size_t failed_ = 0;
  std::size_t skipped_ = 0;
  int worst_ = 0;
};

}  // namespace av_align
