// Copyright 2026 The av_fusion authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include "av_fusion/core/media_time.h"

namespace av_fusion {

/// A part of a file that was analysed while others were not, from its first picture or sound on.
struct AnalysedPart {
  MediaDuration start;
  MediaDuration end;
};

}  // namespace av_fusion
