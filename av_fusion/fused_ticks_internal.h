// Copyright 2026 The av_fusion authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "av_fusion/features/face_box.h"
#include "av_fusion/model/sync_evidence.h"

namespace av_fusion {

/// The next ticks of one face after the fusion.
struct FusedTicks {
  int track_id = 0;
  SyncEvidence evidence;       ///< T >= 1 ticks
  std::vector<FaceBox> boxes;  ///< [T]
};

}  // namespace av_fusion
