// Copyright 2026 The av_fusion authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include "av_fusion/align/alignment.h"
#include "av_fusion/align/tolerance.h"

namespace av_fusion {

/// One sentence for a person, without a final newline: "sound 120 ms early (confidence 0.97)", "in
/// sync (sound 2 ms late, confidence 0.97)", "not measured: <reason>".
std::string summarize(const Alignment& alignment);

/// A few lines for a person, each ended by a newline: which face, how much speech, the interval,
/// the verdict if a tolerance is given, and how to correct the file. For a file that was not
/// measured: what was found all the same; may be empty.
std::string explain(const Alignment& alignment,
                    const std::optional<Tolerance>& tolerance = std::nullopt);

}  // namespace av_fusion
