// Copyright 2026 The av_fusion authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <string_view>

namespace av_align {

/// Where a report goes. Ordinary files appear whole or not at all.
class ReportFile {
 public:
  /// `name`: a file, or "-" for stdout. Throws `av_fusion::Error` if nothing can be written there,
  /// or if it is the `input` itself, a file or "-" for stdin.
  ReportFile(const std::string& name, const std::string& input);

  bool is_stdout() const noexcept { return is_stdout_; }

  using Write = std::function<void(std::string_view piece)>;

  /// Calls `produce` with a function that takes the text piece by piece. Throws
  /// `av_fusion::Error(kIo)` if writing fails, and what `produce` throws.
  void write_pieces(const std::function<void(const Write&)>& produce) const;

  /// The same with a text in one piece.
  void write(std::string_view text) const;

 private:
  std::filesystem::path path_;
  bool is_stdout_;
};

/// Writes `text` to stdout. Throws `av_fusion::Error(kIo)` if it fails.
void write_to_stdout(std::string_view text);

}  // namespace av_align
