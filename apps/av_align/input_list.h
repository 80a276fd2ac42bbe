// Copyright 2026 The av_fusion authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace av_align {

/// The names in the file `name`, "-" for stdin: one a line, as bytes. Lines that are empty or begin
/// with # do not count; a byte order mark and the carriage returns of other systems are dropped.
///
/// Throws `av_fusion::Error` naming the file: kIo if it cannot be read, kInvalidArgument if it is
/// no list of names.
std::vector<std::string> read_input_list(const std::string& name);

/// `names` without those that came before.
std::vector<std::string> without_repeats(std::vector<std::string> names);

}  // namespace av_align
