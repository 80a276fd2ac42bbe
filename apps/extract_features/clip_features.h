// Copyright 2026 The av_fusion authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <memory>
#include <string>

#include "av_fusion/features/face_landmarker.h"

/// What became of one clip.
struct ClipReport {
  bool written = false;
  std::string reason;     ///< why nothing was written
  double duration_s = 0;  ///< of the pictures
  long ticks = 0;         ///< of the 25 Hz grid
  long ticks_with_face = 0;
  long tracks = 0;  ///< written
  long main_track_ticks = 0;
};

/// Reads the clip `input` and writes the features of its longest face track, and of further tracks
/// of at least one second, to `output` (safetensors). `name` is how the metadata call the clip.
/// Arrays of further tracks carry the suffixes _1, _2 ... Throws `av_fusion::Error` if the clip
/// cannot be read or the file not be written.
///
///     crops              U8  [T, 64, 96]  see crop_mouth
///     geometry           F32 [T, 6]       see lip_geometry
///     valid              U8  [T]          see MouthChunk
///     picture_offset_ms  F32 [T]          time of the picture minus time of the tick
///     mel                F32 [Ta, 80]     see LogMelExtractor; every 10 ms, from 2 s before the
///                                         first tick to 2 s after the last
///     mel_valid          U8  [Ta]
///     speech             U8  [Ta]         see SpeechActivity
ClipReport extract_clip(const std::filesystem::path& input, const std::string& name,
                        std::shared_ptr<const av_fusion::FaceLandmarker> landmarker,
                        const std::filesystem::path& output);
