// Copyright 2026 The av_fusion authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <variant>

#include "av_fusion/align/tolerance.h"
#include "av_fusion/aligner_options.h"

namespace av_align {

/// What the user asked for, checked.
struct CommandLine {
  enum class Task { kAlign, kListStreams, kVersion };

  Task task = Task::kAlign;
  std::string input;                  ///< empty only for kVersion; "-" is stdin
  std::optional<std::string> report;  ///< where the JSON goes; "-" is stdout
  bool quiet = false;
  bool profile = false;  ///< say on stderr where the time went
  std::optional<av_fusion::Tolerance> tolerance;
  av_fusion::AlignerOptions aligner;
};

/// Reads the arguments. Answers `--help` on stdout and complains in one sentence on stderr; returns
/// the exit code in these two cases.
std::variant<CommandLine, int> parse_command_line(int argc, char** argv);

}  // namespace av_align
