// Copyright 2026 The av_fusion authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "av_fusion/media/container_timing.h"
#include "av_fusion/media/input_file_internal.h"
#include "av_fusion/media/media_info.h"
#include "av_fusion/media/media_source.h"
#include "av_fusion/media/packet_queue_internal.h"

namespace av_fusion {

/// Samples at the front of a stream that are decoded but not presented, by its first packet.
std::int64_t priming_samples(const AVPacket& first, const AVCodecParameters& codec);

/// Sets `info.timing` by the first packets of the chosen streams; `packets` must be at the
/// beginning of `file`. Opens MP4 and MOV again, without their edit lists, if `source` can seek;
/// only headers and first packets are read. Throws what the source throws.
///
/// Corrects `packets` and the starts in `info` if an edit list begins between two pictures: FFmpeg
/// makes the first picture after the cut the beginning, up to the distance of two pictures early.
void find_timing(InputFile& file, PacketQueue& packets, MediaInfo& info, const MediaSource& source,
                 std::int64_t max_pixels);

}  // namespace av_fusion
