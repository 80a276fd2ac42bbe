// Copyright 2026 The av_fusion authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <vector>

#include "av_fusion/media/input_file_internal.h"
#include "av_fusion/media/media_info.h"

namespace av_fusion {

/// What the container says about itself; no stream is chosen yet.
MediaInfo describe(const InputFile& file);

/// Streams that may hold moving pictures but have to prove it by a second packet, because a
/// container need not mark a single picture as such.
std::vector<int> streams_to_probe(const MediaInfo& info);

/// Picks the stream: `asked` if given (it must exist and be of `kind`), else the best: no stills,
/// decodable, marked as default, largest picture or most channels, first. Throws
/// `Error(kNotFound)` with the list of streams, or `Error(kUnsupported)` if there is no decoder.
std::optional<int> choose_stream(const MediaInfo& info, StreamInfo::Kind kind,
                                 std::optional<int> asked, const std::string& name);

}  // namespace av_fusion
