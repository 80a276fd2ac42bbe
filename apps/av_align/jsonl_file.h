// Copyright 2026 The av_fusion authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <functional>
#include <string>
#include <string_view>

namespace av_align {

/// The output of a batch: lines that are written whole, one after another, behind those that are
/// there already. Not thread-safe.
class JsonlFile {
 public:
  /// Whether a line (without its newline) is one of those that a batch writes.
  using Take = std::function<bool(std::string_view line)>;

  /// `name`: a file, or "-" for stdout. Hands the lines of an ordinary file that exists to `take`;
  /// nothing is changed yet. Throws `av_fusion::Error`: kIo if it cannot be read or written, or if
  /// another process is writing it; kCorruptData naming the line that is none of a batch. A last
  /// line that was not written to its end is no error.
  JsonlFile(const std::string& name, const Take& take);
  ~JsonlFile();
  JsonlFile(const JsonlFile&) = delete;
  JsonlFile& operator=(const JsonlFile&) = delete;

  /// Makes the file if there is none, and cuts off a last line that is not whole. To be called
  /// before `append`. Throws `av_fusion::Error(kIo)`.
  void start();

  /// Writes a line, which ends with a newline. Throws `av_fusion::Error(kIo)` if that fails; an
  /// ordinary file then ends with the line before.
  void append(std::string_view line);

 private:
  [[noreturn]] void fail(const char* what) const;
  bool open_existing();
  void lock() const;
  void read(const Take& take);
  void write_all(std::string_view bytes) const;

  std::string name_;
  int descriptor_ = -1;      // -1 until start if there is no file yet
  bool is_ordinary_ = true;  // can be read and cut
  off_t end_ = 0;            // of the last whole line, in bytes
};

}  // namespace av_align
