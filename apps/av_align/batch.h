// Copyright 2026 The av_fusion authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include "command_line.h"

namespace av_align {

/// Measures all files of `line`, for which `is_batch()` holds, and returns the exit code. A file
/// that fails has a line that says so. Throws `av_fusion::Error` for what is wrong with the whole:
/// the list, the output, a model.
int run_batch(const CommandLine& line);

}  // namespace av_align
