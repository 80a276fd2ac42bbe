// Copyright 2026 The av_fusion authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "av_fusion/audio_token_stream_internal.h"
#include "av_fusion/core/timeline.h"
#include "av_fusion/features/face_box.h"
#include "av_fusion/features/mouth_chunk.h"
#include "av_fusion/fused_ticks_internal.h"
#include "av_fusion/model/aligner_model.h"
#include "av_fusion/nn/exec_context.h"
#include "av_fusion/video_token_stream_internal.h"

namespace av_fusion {

/// The model's part of a run, as a stream: mouths and log-mel frames in, evidence out, in the order
/// in which both sides become complete. Chunk sizes change nothing but rounding. Keeps the sound
/// that some face can still ask for, at most `Options::max_frames` frames more than the chunks need
/// anyway. One thread at a time.
class FusionStream {
 public:
  struct Options {
    std::int64_t width = 100;         ///< lags from -width to +width audio frames
    std::int64_t video_chunk = 200;   ///< ticks encoded at a time
    std::int64_t audio_chunk = 400;   ///< frames encoded at a time
    std::int64_t fuse_chunk = 100;    ///< ticks fused at a time
    std::int64_t max_frames = 12000;  ///< sound kept while pictures are late
  };

  /// An extractor tells of a face at most so many ticks after its first picture.
  static constexpr std::int64_t kNewFaceDelay = 50;

  /// Where the results go, called from within `push_*` and `finish_*`.
  struct Sink {
    std::function<void(const FusedTicks&)> evidence;
    std::function<void(int track_id)> end_track;
  };

  /// `model` and `context` must outlive the stream. `name`: the input, for errors.
  FusionStream(const AlignerModel& model, ExecContext& context, const Options& options, Sink sink,
               std::string name);

  /// Time before tick 0 at which audio frame 0 must be centred: what the first tick can ask for, in
  /// whole ticks.
  static MediaDuration lead(const AlignerModel& model, std::int64_t width);

  /// The next audio frames [T, mel_bands]; frame j is centred at tick 0 - lead + j * 10 ms.
  void push_audio(TensorView<const float> mel);

  /// There is no more sound; what lies behind is not seen by any picture.
  void finish_audio();

  /// The next ticks of one face. Throws `Error(kUnsupported)` if the sound at that time is gone,
  /// because it came much more than `max_frames` earlier.
  void push_mouths(const MouthChunk& chunk, const Timeline& grid);

  /// The last picture handed to the extractor belongs to about `tick`. Faces that are still unknown
  /// begin at most `kNewFaceDelay` ticks before it.
  void advance_to(std::int64_t tick);

  /// There are no more pictures.
  void finish_video();

 private:
  // What is known of the ticks of a track that are not fused yet; `tokens` counts from
  // `first_tick`.
  struct Track {
    Track(const AlignerModel& model, std::int64_t chunk, std::int64_t first)
        : tokens(model, chunk), first_tick(first), next_tick(first) {}

    VideoTokenStream tokens;
    std::int64_t first_tick;
    std::int64_t next_tick;  // first tick that is not fused
    bool ended = false;
    std::deque<std::uint8_t> valid;  // from next_tick on, like the two below
    std::deque<MediaDuration> picture_late;
    std::deque<FaceBox> boxes;
  };

  std::int64_t frame_of(std::int64_t tick) const noexcept;
  void append(Track& track, const MouthChunk& chunk);
  void fuse_ready();
  void fuse_ready(int id, Track& track);
  void fuse(int id, Track& track, std::int64_t count);
  void skip_lost_sound(Track& track);
  void skip(Track& track, std::int64_t count);
  void forget_unneeded_sound();

  const AlignerModel& model_;
  ExecContext& context_;
  Options options_;
  Sink sink_;
  std::string name_;
  std::int64_t lead_frames_;
  std::int64_t max_kept_frames_;
  Timeline grid_;
  AudioTokenStream audio_;
  bool audio_finished_ = false;
  std::map<int, Track> tracks_;
  std::int64_t last_tick_ = 0;
  std::int64_t excused_tick_ = -1;  // see forget_unneeded_sound
};

}  // namespace av_fusion
