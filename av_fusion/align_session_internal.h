// Copyright 2026 The av_fusion authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>

#include "av_fusion/align/alignment_builder.h"
#include "av_fusion/aligner_options.h"
#include "av_fusion/alignment_run.h"
#include "av_fusion/features/face_landmarker.h"
#include "av_fusion/features/log_mel.h"
#include "av_fusion/features/mouth_track_extractor.h"
#include "av_fusion/features/speech_activity.h"
#include "av_fusion/fusion_stream_internal.h"
#include "av_fusion/media/media_reader.h"
#include "av_fusion/model/aligner_model.h"
#include "av_fusion/nn/exec_context.h"

namespace av_fusion {

/// One run of `Aligner::align`: takes what the reader hands out to the rooms in which it is needed.
///
/// Picture tick 0 is the first picture; audio frame 0 is centred `FusionStream::lead` before it.
/// Sound that is missing (before, after and between) is silence. Used once, by one thread.
class AlignSession {
 public:
  /// All references must outlive the session. `name`: the input, for errors.
  AlignSession(const AlignerModel& model, std::shared_ptr<const FaceLandmarker> landmarker,
               const AlignerOptions& options, MediaReader& reader, std::string name);

  /// Reads to the end. Throws as `Aligner::align`.
  void run();

  bool cancelled() const noexcept { return cancelled_; }
  MediaDuration speech() const noexcept { return kAudioHop * speech_frames_; }
  MediaDuration analysed() const;  ///< from the first to the last picture or sound

  /// The answer, after `run`.
  Alignment finish();

 private:
  static constexpr MediaDuration kAudioHop{10'000};

  void on_picture(VideoFrame frame);
  void on_sound(AudioClip clip);
  void check_span(MediaTime time) const;
  void begin_sound(MediaTime first_picture);
  void take_mouths();
  void push_clip(const AudioClip& clip);
  void fill_with_silence(MediaTime until);
  void hold(AudioClip clip);
  void lose(const AudioClip& clip);
  void take_mel();
  void finish_streams();
  void count_speech();
  void report_progress();

  const AlignerModel& model_;
  const AlignerOptions& options_;
  MediaReader& reader_;
  std::string name_;
  std::int64_t width_;
  AlignmentBuilder builder_;
  ExecContext context_;
  FusionStream fusion_;
  MouthTrackExtractor mouths_;
  std::optional<LogMelExtractor> mel_;  // from the first picture on
  SpeechActivity speech_activity_;
  std::int64_t speech_frames_ = 0;

  std::optional<MediaTime> first_picture_;
  MediaTime last_picture_;
  std::deque<AudioClip> held_;  // sound that came before the first picture
  MediaDuration held_length_;
  std::optional<MediaTime> given_up_;  // held sound before this was dropped
  std::optional<MediaTime> silenced_;  // sound before this was taken as silent
  MediaDuration lost_sound_;           // came too late
  MediaTime sound_end_;                // of what the extractor has got
  bool cancelled_ = false;
  std::chrono::steady_clock::time_point begun_;
  std::chrono::steady_clock::time_point last_progress_;
};

}  // namespace av_fusion
