// Copyright 2026 The av_fusion authors. SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <utility>

#include "av_fusion/core/error.h"
#include "av_fusion/core/stage_scope.h"
#include "av_fusion/core/tensor.h"
#include "av_fusion/fusion_stream_internal.h"

namespace av_fusion {
namespace {

constexpr MediaDuration kLagHop{10'000};

template <typename T>
std::vector<T> take_front(std::deque<T>& queue, std::int64_t count) {
  const auto end = queue.begin() + static_cast<std::ptrdiff_t>(count);
  std::vector<T> taken(queue.begin(), end);
  queue.erase(queue.begin(), end);
  return taken;
}

/// How long sound must be kept for pictures that are not late at all: a tick waits until its chunks
/// are full.
std::int64_t frames_held_back(const AlignerModel& model, const FusionStream::Options& options) {
  const AlignerModel::Geometry& geometry = model.geometry();
  const std::int64_t ticks = options.video_chunk + geometry.video_future + options.fuse_chunk +
                             FusionStream::kNewFaceDelay;
  return ticks * geometry.audio_per_video + 2 * options.width;
}

}  // namespace

FusionStream::FusionStream(const AlignerModel& model, ExecContext& context, const Options& options,
                           Sink sink, std::string name)
    : model_(model),
      context_(context),
      options_(options),
      sink_(std::move(sink)),
      name_(std::move(name)),
      lead_frames_(lead(model, options.width).us / kLagHop.us),
      max_kept_frames_(options.max_frames + frames_held_back(model, options)),
      audio_(model, options.audio_chunk) {}

MediaDuration FusionStream::lead(const AlignerModel& model, std::int64_t width) {
  const std::int64_t frames_per_tick = model.geometry().audio_per_video;
  const std::int64_t frames = width + model.geometry().audio_past;
  return kLagHop * ((frames + frames_per_tick - 1) / frames_per_tick * frames_per_tick);
}

std::int64_t FusionStream::frame_of(std::int64_t tick) const noexcept {
  return lead_frames_ + model_.geometry().audio_per_video * tick;
}

void FusionStream::push_audio(TensorView<const float> mel) {
  audio_.push(mel);
  fuse_ready();
}

void FusionStream::finish_audio() {
  audio_.finish();
  audio_finished_ = true;
  fuse_ready();
}

void FusionStream::push_mouths(const MouthChunk& chunk, const Timeline& grid) {
  grid_ = grid;
  auto [entry, is_new] =
      tracks_.try_emplace(chunk.track_id, model_, options_.video_chunk, chunk.first_tick);
  append(entry->second, chunk);
  fuse_ready();
}

void FusionStream::append(Track& track, const MouthChunk& chunk) {
  for (std::int64_t i = 0; i < chunk.length(); ++i) {
    const auto at = static_cast<std::size_t>(i);
    track.valid.push_back(chunk.valid[at]);
    track.picture_late.push_back(chunk.picture_times[at] - grid_.at(chunk.first_tick + i));
    track.boxes.push_back(chunk.boxes[at]);
  }
  track.tokens.push(context_, chunk.crops.view(), chunk.geometry.view());
  if (chunk.ends_track) {
    track.tokens.finish(context_);
    track.ended = true;
  }
}

void FusionStream::advance_to(std::int64_t tick) {
  last_tick_ = std::max(last_tick_, tick);
  forget_unneeded_sound();
}

void FusionStream::finish_video() {
  for (auto& [id, track] : tracks_) {
    track.tokens.finish(context_);
    track.ended = true;
  }
  fuse_ready();
}

void FusionStream::fuse_ready() {
  for (auto entry = tracks_.begin(); entry != tracks_.end();) {
    auto& [id, track] = *entry;
    fuse_ready(id, track);
    const bool done = track.ended && track.next_tick == track.first_tick + track.tokens.end();
    if (done) sink_.end_track(id);
    entry = done ? tracks_.erase(entry) : std::next(entry);
  }
  forget_unneeded_sound();
}

void FusionStream::fuse_ready(int id, Track& track) {
  skip_lost_sound(track);
  while (true) {
    const std::int64_t waiting = track.first_tick + track.tokens.end() - track.next_tick;
    const std::int64_t count = std::min(waiting, options_.fuse_chunk);
    if (count <= 0 || (count < options_.fuse_chunk && !track.ended)) return;
    const std::int64_t last_frame = frame_of(track.next_tick + count - 1) + options_.width;
    if (!audio_finished_ && last_frame >= audio_.end()) return;
    fuse(id, track, count);
  }
}

void FusionStream::fuse(int id, Track& track, std::int64_t count) {
  const std::int64_t width = options_.width;
  const std::int64_t first = frame_of(track.next_tick) - width;
  const std::int64_t last = frame_of(track.next_tick + count - 1) + width;
  const std::int64_t end = std::min(last + 1, audio_.end());
  if (first >= end) return skip(track, count);  // the sound was over long before
  const std::int64_t row = track.next_tick - track.first_tick;
  const std::int64_t lags = 2 * width + 1;

  FusedTicks result;
  result.track_id = id;
  SyncEvidence& evidence = result.evidence;
  evidence.ticks = {grid_.at(track.next_tick), grid_.hop};
  evidence.lag_hop = kLagHop;
  evidence.width = width;
  evidence.lag_logits = Tensor<float>({count, lags});
  evidence.head_weights = Tensor<float>({count, model_.geometry().num_heads, lags});
  evidence.speaking_logits = Tensor<float>({count});
  const TensorView<const float> keys = audio_.tokens(context_, first, end);
  const StageScope stage(Stage::kAttention);
  model_.fuse(context_, track.tokens.tokens(row, row + count), keys, width, width,
              evidence.lag_logits.view(), evidence.head_weights.view(),
              evidence.speaking_logits.view());
  evidence.valid = take_front(track.valid, count);
  evidence.picture_late = take_front(track.picture_late, count);
  result.boxes = take_front(track.boxes, count);
  track.next_tick += count;
  track.tokens.drop_before(row + count);
  sink_.evidence(result);
}

void FusionStream::skip_lost_sound(Track& track) {
  const std::int64_t end = track.first_tick + track.tokens.end();
  std::int64_t first = track.next_tick;
  while (first < end && frame_of(first) - options_.width < audio_.begin()) ++first;
  if (first == track.next_tick) return;
  if (first - 1 > excused_tick_) {
    throw Error(ErrorCode::kUnsupported, name_,
                "the sound lies too far before its picture in the file (at " +
                    std::to_string(grid_.at(first - 1).us / 1000) +
                    " ms); write the file anew with its streams interleaved");
  }
  skip(track, first - track.next_tick);
}

void FusionStream::skip(Track& track, std::int64_t count) {
  take_front(track.valid, count);
  take_front(track.picture_late, count);
  take_front(track.boxes, count);
  track.next_tick += count;
  track.tokens.drop_before(track.next_tick - track.first_tick);
}

// While pictures are missing for a long time, the oldest sound must go, and with it the evidence of
// the last ticks before, which wait in the extractor or for their chunk to fill. These are excused;
// a later picture that misses its sound shows that the file is badly interleaved.
void FusionStream::forget_unneeded_sound() {
  std::int64_t tick = std::max<std::int64_t>(0, last_tick_ - kNewFaceDelay);
  for (const auto& [id, track] : tracks_) tick = std::min(tick, track.next_tick);
  std::int64_t needed = frame_of(tick) - options_.width;
  const std::int64_t kept = audio_.frames() - max_kept_frames_;
  if (kept > needed) {
    needed = kept;
    excused_tick_ = std::max(excused_tick_, last_tick_);
  }
  audio_.forget_before(needed);
}

}  // namespace av_fusion
