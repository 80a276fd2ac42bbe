// Copyright 2026 The av_fusion authors. SPDX-License-Identifier: Apache-2.0
#include "av_fusion/align/alignment.h"

namespace av_fusion {

std::string_view to_string(AlignmentStatus status) noexcept {
  switch (status) {
    case AlignmentStatus::kMeasured: return "measured";
    case AlignmentStatus::kNoVideo: return "no_video";
    case AlignmentStatus::kNoAudio: return "no_audio";
    case AlignmentStatus::kNoFace: return "no_face";
    case AlignmentStatus::kNoSpeech: return "no_speech";
    case AlignmentStatus::kTooShort: return "too_short";
    case AlignmentStatus::kAmbiguous: return "ambiguous";
  }
  return "unknown";
}

}  // namespace av_fusion
