// Copyright 2026 The av_fusion authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace av_fusion::test {

/// What a finished program left behind.
struct ProgramResult {
  int exit_code = -1;  ///< 1000 + signal if it was killed
  std::string out;
  std::string err;
};

/// stdin is empty.
struct NoInput {};

/// stdin is a file, as by `program < path`, and stands `begin` bytes from its beginning.
struct FileInput {
  std::string path;
  std::int64_t begin = 0;
};

/// stdin is a pipe with these bytes. The program need not read them all.
struct PipedInput {
  std::string_view bytes;
};

using ProgramInput = std::variant<NoInput, FileInput, PipedInput>;

/// Called with the number of the process while it runs.
using WhileRunning = std::function<void(int process)>;

/// Runs `arguments[0]` (found along PATH) with the rest as arguments, without a shell, and waits
/// for it once `meanwhile` has returned. Ctrl-C ends it even where it does not end this process.
/// Exit code 127: it could not be started.
ProgramResult run_program(const std::vector<std::string>& arguments,
                          const ProgramInput& input = NoInput{},
                          const WhileRunning& meanwhile = {});

}  // namespace av_fusion::test
