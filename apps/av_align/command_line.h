// Copyright 2026 The av_fusion authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "av_fusion/align/tolerance.h"
#include "av_fusion/aligner_options.h"

namespace av_align {

/// What the user asked for, checked.
struct CommandLine {
  enum class Task { kAlign, kListStreams, kVersion };

  Task task = Task::kAlign;
  std::vector<std::string> inputs;    ///< none is empty; one alone may be "-" for stdin
  std::optional<std::string> list;    ///< file with the names of more inputs; "-" is stdin
  std::optional<std::string> report;  ///< where the JSON of one input goes; "-" is stdout
  std::optional<std::string> jsonl;   ///< where the lines of a batch go; "-" is stdout
  int jobs = 1;                       ///< files of a batch at a time
  bool retry_failed = false;          ///< do files again whose line in `jsonl` is a failure
  bool quiet = false;
  bool profile = false;  ///< say on stderr where the time went
  std::optional<av_fusion::Tolerance> tolerance;
  av_fusion::AlignerOptions aligner;

  /// Any number of inputs and `jsonl`, instead of one input.
  bool is_batch() const noexcept { return list || jsonl || inputs.size() > 1; }

  /// The input where there is but one.
  const std::string& input() const { return inputs.front(); }
};

/// Reads the arguments. Answers `--help` on stdout and complains in one sentence on stderr; returns
/// the exit code in these two cases.
std::variant<CommandLine, int> parse_command_line(int argc, char** argv);

}  // namespace av_align
