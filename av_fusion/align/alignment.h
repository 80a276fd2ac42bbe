// Copyright 2026 The av_fusion authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "av_fusion/align/analysed_part.h"
#include "av_fusion/align/face_track.h"
#include "av_fusion/align/offset.h"
#include "av_fusion/core/media_time.h"

namespace av_fusion {

/// Whether an offset was measured and, if not, what stood in the way. Findings, not errors.
enum class AlignmentStatus {
  kMeasured,
  kNoVideo,
  kNoAudio,
  kNoFace,
  kNoSpeech,
  kTooShort,
  kAmbiguous,
};

/// The stable name used in reports: "measured", "no_video", ...
std::string_view to_string(AlignmentStatus status) noexcept;

/// The offset of one stretch of the file.
struct TimelinePoint {
  MediaDuration t;  ///< centre of the stretch, from the file's first picture or sound
  Offset offset;
  int track = 0;
};

/// Where the attention of one picture of one face went.
struct AttentionFrame {
  MediaDuration t;  ///< picture, from the file's first picture or sound
  int track = 0;
  MediaDuration audio_t;  ///< where the heads together look
  double weight = 0;      ///< share of attention within 40 ms of `audio_t`
  std::vector<MediaDuration> per_head_audio_t;
};

/// Everything that was found out about one file. A plain value.
struct Alignment {
  AlignmentStatus status = AlignmentStatus::kTooShort;
  std::string reason;               ///< one sentence for a person
  std::optional<Offset> offset;     ///< present when measured
  bool at_search_edge = false;      ///< the best lag was the last one searched: not a measurement
  std::vector<AnalysedPart> parts;  ///< what was analysed, by time; empty: all of the file
  std::vector<TimelinePoint> timeline;
  std::vector<FaceTrack> tracks;
  MediaDuration attention_hop;
  int attention_heads = 0;
  std::vector<AttentionFrame> attention;
};

}  // namespace av_fusion
