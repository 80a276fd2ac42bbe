// Copyright 2026 The av_fusion authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "av_fusion/align/tolerance.h"
#include "av_fusion/core/error.h"

namespace av_align {

/// What the output of a batch remembers of a file: the essence of one line of it.
struct JsonlRecord {
  std::string path;   ///< as `name_in_json`
  int exit_code = 0;  ///< that of the file alone; `kExitUnreadableInput` for any failure
};

/// Reads a line that a batch wrote; nothing if it is no such line. The offset is judged by
/// `tolerance`, not by the one of the line.
std::optional<JsonlRecord> parse_record(std::string_view line,
                                        const std::optional<av_fusion::Tolerance>& tolerance);

/// Whether `text` may be the beginning of a line that a batch wrote.
bool begins_as_record(std::string_view text) noexcept;

/// The line of a file that could not be analysed, with a final newline.
std::string failure_line(const std::string& input, av_fusion::ErrorCode code,
                         const std::string& message);

/// How a line names the file `input`: bytes that are not UTF-8 become U+FFFD, so that different
/// names may look alike.
std::string name_in_json(const std::string& input);

}  // namespace av_align
