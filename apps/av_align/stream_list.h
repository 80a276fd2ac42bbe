// Copyright 2026 The av_fusion authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "av_fusion/media/media_info.h"

namespace av_align {

/// One line for each stream: number, kind, codec, properties, and whether it would be used.
std::string stream_list(const av_fusion::MediaInfo& info);

}  // namespace av_align
