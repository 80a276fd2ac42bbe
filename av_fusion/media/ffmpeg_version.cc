// Copyright 2026 The av_fusion authors. SPDX-License-Identifier: Apache-2.0
#include "av_fusion/media/ffmpeg_version.h"

extern "C" {
#include <libavutil/avutil.h>
}

namespace av_fusion {

std::string ffmpeg_version() { return av_version_info(); }

}  // namespace av_fusion
