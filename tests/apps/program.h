// Copyright 2026 The av_fusion authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace av_fusion::test {

/// What a finished program left behind.
struct ProgramResult {
  int exit_code = -1;  ///< 1000 + signal if it was killed
  std::string out;
  std::string err;
};

/// Runs `arguments[0]` (found along PATH) with the rest as arguments, without a shell, and waits
/// for it. Exit code 127: it could not be started. stdin is empty.
ProgramResult run_program(const std::vector<std::string>& arguments);

}  // namespace av_fusion::test
