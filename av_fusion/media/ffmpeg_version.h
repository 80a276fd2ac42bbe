// Copyright 2026 The av_fusion authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace av_fusion {

/// The version of FFmpeg that runs, for example "7.1.1-1".
std::string ffmpeg_version();

}  // namespace av_fusion
