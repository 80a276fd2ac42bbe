// Copyright 2026 The av_fusion authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "av_fusion/media/media_info.h"
#include "av_fusion/report/stream_list_description.h"

namespace av_fusion {

/// What a reader found out about a file, for `to_json` (stream_list_json.h); `path` is what the
/// list shall call the file. The streams used are those that the reader chose.
///
///     const MediaReader reader(MediaSource::from_path("talk.mp4"));
///     const std::string json = to_json(describe_streams(reader.info(), "talk.mp4"));
StreamListDescription describe_streams(const MediaInfo& info, std::string path);

}  // namespace av_fusion
