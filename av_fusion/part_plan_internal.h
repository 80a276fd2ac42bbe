// Copyright 2026 The av_fusion authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <vector>

#include "av_fusion/align/analysed_part.h"
#include "av_fusion/align/offset.h"
#include "av_fusion/align/tolerance.h"
#include "av_fusion/core/media_time.h"

namespace av_fusion {

/// So many parts are analysed at least: one in each quarter of the file.
inline constexpr std::size_t kFewestParts = 4;

/// The parts of a quick look at a file of this length, in the order in which they are to be
/// analysed: spread evenly however many are taken, and at most an eighth of the file, but for
/// `kFewestParts` of them. Empty: the file is so short that all of it is to be analysed.
std::vector<AnalysedPart> spread_parts(MediaDuration length);

/// Whether more parts would hardly change what the user learns: the offset is all but certain, and
/// its interval lies on one side of each limit of the tolerance (without one: is at most 80 ms
/// wide).
bool is_settled(const std::optional<Offset>& offset, const std::optional<Tolerance>& tolerance);

}  // namespace av_fusion
