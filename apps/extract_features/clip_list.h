// Copyright 2026 The av_fusion authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>
#include <vector>

/// The column `clip` of a tab-separated file with a header line, in its order. Throws
/// `av_fusion::Error` if the file cannot be read or has no such column.
std::vector<std::string> read_clip_list(const std::filesystem::path& path);
