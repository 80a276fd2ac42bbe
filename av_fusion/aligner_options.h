// Copyright 2026 The av_fusion authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <optional>

#include "av_fusion/align/tolerance.h"
#include "av_fusion/align_progress.h"
#include "av_fusion/core/log_sink.h"
#include "av_fusion/core/media_time.h"
#include "av_fusion/media/audio_channel.h"

namespace av_fusion {

/// How an `Aligner` works. All times are lengths on the presentation timeline.
struct AlignerOptions {
  /// Model weights (safetensors); empty: `Aligner::default_model_path()`.
  std::filesystem::path model;
  /// Landmark model for the 68 points of a face; empty: `find_face_model()`.
  std::filesystem::path face_model;

  /// Search range each way, 100 ms to 10 s; rounded up to whole lags of the model (10 ms).
  MediaDuration max_offset = MediaDuration::from_ms(1000);
  /// Length of the stretches of `Alignment::timeline`, 0.2 s to 600 s, and the step between them,
  /// 0.04 s to 600 s.
  MediaDuration window = MediaDuration::from_seconds(4);
  MediaDuration hop = MediaDuration::from_seconds(1);

  /// The part to analyse: begins this long after the file's first picture or sound (>= 0) ...
  std::optional<MediaDuration> start;
  /// ... and is this long (> 0); absent: to the end.
  std::optional<MediaDuration> duration;
  /// A quick answer on a long file: analyses parts of 12 s spread over it instead of all of it, at
  /// least one in each quarter, until the offset is all but certain and `tolerance` is decided
  /// (without one: the interval is at most 80 ms wide), and no more than an eighth of it (or four
  /// parts). `Alignment::parts` tells which; offset, interval and confidence are those of what was
  /// analysed, so a change between two parts stays unseen. Files under two minutes, files of
  /// unknown length and sources that cannot seek are analysed whole.
  bool fast = false;
  std::optional<Tolerance> tolerance;  ///< what the answer is for; looked at by `fast` alone

  /// Stream numbers of the container; absent: the best moving picture and the best sound.
  std::optional<int> video_stream;
  std::optional<int> audio_stream;
  /// Which channel of the sound; default: the down-mix, unless another part clearly holds the
  /// speech. See `MediaReader`.
  AudioChannel audio_channel;

  /// Threads of one run, 1 to 256. From 2 on the file is read and decoded on threads of the run (on
  /// one of them, one call at a time, the callbacks of a `MediaSource`), while the caller's thread
  /// analyses; from 3 on the network has a thread as well. The answer is the same. Many files are
  /// done faster by several callers with one thread each.
  int threads = 1;

  /// Sound and pictures that belong together may lie this far apart in the file, 1 s to 3600 s. The
  /// run keeps what it needs of that time in memory (0.1 MB for each second); see `Aligner::align`.
  MediaDuration max_interleave = MediaDuration::from_seconds(120);

  /// Remarks of the run; may be empty. Called on the thread that runs `align`.
  LogSink log;
  AlignProgressCallback progress;  ///< may be empty
};

}  // namespace av_fusion
