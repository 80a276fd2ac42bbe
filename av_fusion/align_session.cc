// Copyright 2026 The av_fusion authors. SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <utility>
#include <vector>

#include "av_fusion/align_session_internal.h"
#include "av_fusion/core/error.h"
#include "av_fusion/core/stage_scope.h"
#include "av_fusion/features/face_detector.h"

namespace av_fusion {
namespace {

constexpr MediaDuration kSilencePiece = MediaDuration::from_seconds(1);
constexpr MediaDuration kLongestFile = MediaDuration::from_seconds(7.0 * 24 * 3600);
constexpr MediaDuration kClipJitter = MediaDuration::from_ms(1);
constexpr MediaDuration kHeldBackSound = MediaDuration::from_seconds(2);

MediaDuration length_of(const AudioClip& clip) {
  constexpr std::int64_t kRate = AudioClip::kSampleRateHz;
  return {(static_cast<std::int64_t>(clip.samples.size()) * 1'000'000 + kRate / 2) / kRate};
}

std::int64_t width_of(MediaDuration max_offset, MediaDuration lag_hop) {
  return (max_offset.us + lag_hop.us - 1) / lag_hop.us;
}

FusionStream::Options fusion_options(FusionStream::Options chunks, const AlignerOptions& options,
                                     std::int64_t width) {
  chunks.width = width;
  chunks.max_frames = options.max_interleave.us / LogMelExtractor::kHop.us;
  return chunks;
}

/// A session counts its faces from 0 on, the file from where the sessions before have stopped.
FusionStream::Sink sink_to(FileEvidence& file) {
  const int first = file.next_track;
  return {.evidence =
              [&file, first](const FusedTicks& ticks) {
                std::vector<AlignmentBuilder::Box> boxes;
                boxes.reserve(ticks.boxes.size());
                for (const FaceBox& box : ticks.boxes) {
                  boxes.push_back({box.x, box.y, box.width, box.height});
                }
                const int track = first + ticks.track_id;
                file.next_track = std::max(file.next_track, track + 1);
                file.builder.add(track, ticks.evidence, boxes);
              },
          .end_track = [&file, first](int id) { file.builder.end_track(first + id); }};
}

}  // namespace

AlignmentOptions alignment_options(const AlignerModel& model, const AlignerOptions& options,
                                   MediaDuration keep) {
  const AlignerModel::Calibration& fitted = model.calibration();
  AlignmentOptions result;
  result.tick_hop = MouthTrackExtractor::kHop;
  result.lag_hop = LogMelExtractor::kHop;
  result.width = width_of(options.max_offset, LogMelExtractor::kHop);
  result.heads = model.geometry().num_heads;
  result.window = options.window;
  result.hop = options.hop;
  result.keep = keep;
  result.calibration.evidence_scale = fitted.evidence_scale;
  result.calibration.correlated_ticks = fitted.correlated_ticks;
  result.calibration.outlier_share = fitted.outlier_share;
  result.calibration.match_scale = fitted.match_scale;
  result.calibration.match_bias = fitted.match_bias;
  result.calibration.match_ticks = fitted.match_ticks;
  result.speaking = {.scale = fitted.speaking_scale,
                     .head = fitted.speaking_head,
                     .bias = fitted.speaking_bias,
                     .start = fitted.speaking_start,
                     .stop = fitted.speaking_stop};
  return result;
}

AlignSession::AlignSession(const AlignerModel& model,
                           std::shared_ptr<const FaceLandmarker> landmarker,
                           const AlignerOptions& options, const Fusion& fusion,
                           std::shared_ptr<FileEvidence> evidence, std::string name)
    : model_(model),
      name_(std::move(name)),
      max_interleave_(options.max_interleave),
      width_(width_of(options.max_offset, LogMelExtractor::kHop)),
      evidence_(std::move(evidence)),
      fusion_(model, context_, fusion_options(fusion.chunks, options, width_), sink_to(*evidence_),
              name_),
      runner_(fusion_, fusion.on_own_thread),
      mouths_(make_dlib_face_detector(), std::move(landmarker)) {}

void AlignSession::push(VideoFrame frame) {
  if (!first_picture_) begin_sound(frame.time);
  check_span(frame.time);
  last_picture_ = std::max(last_picture_, frame.time);
  mouths_.push(std::move(frame));
  take_mouths();
  // Sound that is so late will not come any more: the file has a hole there, or its sound is over.
  const MediaTime hopeless = last_picture_ - max_interleave_;
  if (sound_end_ + kSilencePiece < hopeless) {
    fill_with_silence(hopeless);
    silenced_ = sound_end_;
  }
}

// Every tick costs a little, whether there is a picture or not: damaged times must not cost hours.
void AlignSession::check_span(MediaTime time) const {
  if (time - *first_picture_ <= kLongestFile) return;
  throw Error(ErrorCode::kCorruptData, name_, "its presentation times span more than a week");
}

void AlignSession::begin_sound(MediaTime first_picture) {
  first_picture_ = last_picture_ = first_picture;
  if (given_up_ && *given_up_ > first_picture) {
    throw Error(ErrorCode::kUnsupported, name_,
                "the first picture lies too far behind its sound in the file; write the file anew "
                "with its streams interleaved");
  }
  sound_end_ = first_picture - FusionStream::lead(model_, width_);
  mel_.emplace(Timeline{sound_end_, LogMelExtractor::kHop});
  for (const AudioClip& clip : held_) push_clip(clip);
  held_.clear();
}

void AlignSession::take_mouths() {
  for (MouthChunk& chunk : mouths_.take_ready()) {
    runner_.run(FusionRunner::Mouths{std::move(chunk), *mouths_.grid()});
  }
  if (const auto grid = mouths_.grid()) {
    runner_.run(FusionRunner::AdvanceTo{grid->nearest(last_picture_)});
  }
}

void AlignSession::push(AudioClip clip) {
  if (silenced_ && clip.start + kClipJitter < *silenced_) return lose(clip);
  if (mel_) {
    push_clip(clip);
  } else {
    hold(std::move(clip));
  }
}

// Sound whose time was taken as silent. Readers and decoders hold back the last bit of a stream
// that ends before the others; more than that shows that the file is badly interleaved.
void AlignSession::lose(const AudioClip& clip) {
  lost_sound_ = lost_sound_ + length_of(clip);
  if (lost_sound_ <= kHeldBackSound) return;
  throw Error(ErrorCode::kUnsupported, name_,
              "sound lies too far behind its picture in the file (at " +
                  std::to_string(clip.start.us / 1000) +
                  " ms); write the file anew with its streams interleaved");
}

// Keeps sound until the first picture is there; only the last of it can matter then.
void AlignSession::hold(AudioClip clip) {
  held_length_ = held_length_ + length_of(clip);
  held_.push_back(std::move(clip));
  while (held_length_ > max_interleave_) {
    const MediaDuration length = length_of(held_.front());
    given_up_ = held_.front().start + length;
    held_length_ = held_length_ - length;
    held_.pop_front();
  }
}

void AlignSession::push_clip(const AudioClip& clip) {
  check_span(clip.start);
  fill_with_silence(clip.start - kSilencePiece);
  hear(clip);
  sound_end_ = std::max(sound_end_, clip.start + length_of(clip));
  take_mel();
}

// Fills in pieces, so that a hole of hours needs no memory.
void AlignSession::fill_with_silence(MediaTime until) {
  while (sound_end_ + kSilencePiece < until) {
    const AudioClip silence{sound_end_, std::vector<float>(AudioClip::kSampleRateHz)};
    hear(silence);
    sound_end_ = sound_end_ + kSilencePiece;
    take_mel();
  }
}

void AlignSession::hear(const AudioClip& clip) {
  const StageScope stage(Stage::kMel);
  mel_->push(clip);
}

void AlignSession::take_mel() {
  FeatureSequence<float> mel;
  {
    const StageScope stage(Stage::kMel);
    mel = mel_->take_ready();
    if (mel.length() == 0) return;
    speech_activity_.push(mel);
    count_speech();
  }
  runner_.run(FusionRunner::Audio{std::move(mel.values)});
}

void AlignSession::count_speech() {
  for (const std::uint8_t speech : speech_activity_.take_ready()) speech_frames_ += speech;
}

void AlignSession::finish_streams() {
  mouths_.finish();
  take_mouths();
  runner_.run(FusionRunner::FinishVideo{});
  if (!mel_) return;
  const AlignerModel::Geometry& geometry = model_.geometry();
  const MediaDuration behind = kAudioHop * (width_ + geometry.audio_future + 1);
  const MediaTime until = last_picture_ + MouthTrackExtractor::kHop + behind;
  fill_with_silence(until - kSilencePiece);
  mel_->finish(until);
  take_mel();
  speech_activity_.finish();
  count_speech();
  runner_.run(FusionRunner::FinishAudio{});
}

void AlignSession::close(const Ending& ending) {
  finish_streams();
  runner_.finish();
  MeasurementContext& context = evidence_->context;
  context.has_video |= ending.has_video;
  context.has_audio |= ending.has_audio;
  context.pictures += mouths_.counters().ticks;
  context.pictures_with_face += mouths_.counters().ticks_with_face;
  context.speech = context.speech + speech();
  context.sound =
      context.sound + MediaDuration{ending.samples * 1'000'000 / AudioClip::kSampleRateHz};
  context.origin = ending.origin;
}

}  // namespace av_fusion
