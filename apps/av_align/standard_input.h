// Copyright 2026 The av_fusion authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>

#include "av_fusion/media/media_source.h"

namespace av_align {

/// Whether the name of an input means stdin. A file of that name is "./-".
inline bool means_standard_input(const std::string& name) { return name == "-"; }

/// The media file on stdin, called "stdin" in messages. A regular file (av_align - < FILE) begins
/// where stdin stands, has a size and can seek; anything else is read front to back, once.
///
/// Throws `av_fusion::Error`: kInvalidArgument if stdin is a terminal, kIo if it is closed or a
/// folder. Reading throws `Error(kIo)`.
av_fusion::MediaSource standard_input();

/// Whether `path` is the very file that stdin is.
bool is_standard_input(const std::filesystem::path& path) noexcept;

}  // namespace av_align
