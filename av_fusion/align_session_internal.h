// Copyright 2026 The av_fusion authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "av_fusion/align/track_state.h"
#include "av_fusion/aligner_options.h"
#include "av_fusion/features/face_landmarker.h"
#include "av_fusion/features/log_mel.h"
#include "av_fusion/features/mouth_track_extractor.h"
#include "av_fusion/features/speech_activity.h"
#include "av_fusion/file_evidence_internal.h"
#include "av_fusion/fusion_runner_internal.h"
#include "av_fusion/fusion_stream_internal.h"
#include "av_fusion/media/audio_clip.h"
#include "av_fusion/media/video_frame.h"
#include "av_fusion/model/aligner_model.h"
#include "av_fusion/nn/exec_context.h"

namespace av_fusion {

/// The options of the evidence of a run.
AlignmentOptions alignment_options(const AlignerModel& model, const AlignerOptions& options,
                                   MediaDuration keep);

/// Takes pictures and sound to the rooms in which they are needed, and brings back what they amount
/// to: the one path that files and live streams share.
///
/// Picture tick 0 is the first picture; audio frame 0 is centred `FusionStream::lead` before it.
/// Sound that is missing (before, after and between) is silence. How the sound is cut into clips
/// changes nothing, nor does the order of the two streams within `AlignerOptions::max_interleave`,
/// nor the threads.
/// Used once, by one thread; adds to `FileEvidence`, which it shares with whoever made it.
class AlignSession {
 public:
  /// What only the source of pictures and sound knows.
  struct Ending {
    bool has_video = false;
    bool has_audio = false;
    MediaTime origin;          ///< the earlier of first picture and first sound
    std::int64_t samples = 0;  ///< heard, at `AudioClip::kSampleRateHz`
  };

  /// How the network works.
  struct Fusion {
    FusionStream::Options chunks;  ///< `width` and `max_frames` are set by the session
    bool on_own_thread = false;    ///< `tracks` and `evidence` are nobody's then before `close`
  };

  /// `model` must outlive the session. `name`: the input, for errors.
  AlignSession(const AlignerModel& model, std::shared_ptr<const FaceLandmarker> landmarker,
               const AlignerOptions& options, const Fusion& fusion,
               std::shared_ptr<FileEvidence> evidence, std::string name);

  /// Each throws as `Aligner::align`. Pictures come in order of time, and so does sound.
  void push(VideoFrame frame);
  void push(AudioClip clip);

  /// No more will come; all that was pushed is in the evidence now.
  void close(const Ending& ending);

  /// What is known so far.
  std::vector<TrackState> tracks() const { return evidence_->builder.open_tracks(); }

  FileEvidence& evidence() const noexcept { return *evidence_; }

  /// Sound before this has no effect any more; nothing if all may come.
  std::optional<MediaTime> silent_until() const noexcept { return silenced_; }

  MediaDuration speech() const noexcept { return kAudioHop * speech_frames_; }

 private:
  static constexpr MediaDuration kAudioHop{10'000};

  void check_span(MediaTime time) const;
  void begin_sound(MediaTime first_picture);
  void take_mouths();
  void push_clip(const AudioClip& clip);
  void fill_with_silence(MediaTime until);
  void hear(const AudioClip& clip);
  void hold(AudioClip clip);
  void lose(const AudioClip& clip);
  void take_mel();
  void finish_streams();
  void count_speech();

  const AlignerModel& model_;
  std::string name_;
  MediaDuration max_interleave_;
  std::int64_t width_;
  std::shared_ptr<FileEvidence> evidence_;
  ExecContext context_;  // of one thread: the network is a twentieth of the work
  FusionStream fusion_;
  FusionRunner runner_;  // of fusion_
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
};

}  // namespace av_fusion
