// Copyright 2026 The av_fusion authors. SPDX-License-Identifier: Apache-2.0
#include "av_fusion/features/mouth_track_extractor.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <deque>
#include <map>
#include <utility>

#include "av_fusion/core/error.h"
#include "av_fusion/core/stage_scope.h"
#include "av_fusion/features/mouth_cropper.h"
#include "av_fusion/features/mouth_pose.h"

namespace av_fusion {
namespace {

constexpr std::int64_t kMaxPictureDistanceUs = 150'000;
constexpr std::int64_t kMaxBridgedTicks = 5;
constexpr std::int64_t kReach = 6;  // ticks of smoothing on each side
constexpr std::size_t kCropSize = std::size_t{kMouthHeight} * kMouthWidth;

// Weights of the smoothing for distances of -kReach to kReach ticks: a Gaussian of 2 ticks.
std::array<float, 2 * kReach + 1> make_smoothing() {
  std::array<float, 2 * kReach + 1> weights{};
  for (std::int64_t i = 0; i <= 2 * kReach; ++i) {
    const double distance = static_cast<double>(i - kReach) / 2.0;
    weights[static_cast<std::size_t>(i)] = static_cast<float>(std::exp(-0.5 * distance * distance));
  }
  return weights;
}

// What is known of a track at one tick. Without `picture` the tick only repeats the one before.
struct Row {
  std::shared_ptr<const VideoFrame> picture;
  FaceLandmarks landmarks;
  FaceBox box;
  MouthPose pose;
  bool confirmed = false;
};

// One track: rows in the making (`rows`, with a past of at most kReach) and ready ones.
class TrackAssembler {
 public:
  TrackAssembler(int track_id, std::int64_t first_tick)
      : track_id_(track_id), rows_begin_(first_tick), next_(first_tick), ready_begin_(first_tick) {}

  std::int64_t end() const { return rows_begin_ + static_cast<std::int64_t>(rows_.size()); }

  // Adds the row of `tick` >= end(); ticks left out are bridged.
  void add(std::int64_t tick, Row row) {
    while (end() < tick) rows_.emplace_back();
    rows_.push_back(std::move(row));
    while (next_ + kReach < end()) make_ready();
  }

  // Ends the track. Rows at its end that no detection confirmed are left out as far as they are not
  // ready: the face had turned away or was gone. One row stays, so that the last chunk is not
  // empty.
  void finish() {
    while (next_ + 1 < end() && !rows_.back().confirmed) rows_.pop_back();
    while (next_ < end()) make_ready();
    rows_.clear();
    finished_ = true;
  }

  bool has_ready() const { return !ready_valid_.empty(); }

  MouthChunk take() {
    MouthChunk chunk;
    const auto count = static_cast<std::int64_t>(ready_valid_.size());
    chunk.track_id = track_id_;
    chunk.first_tick = ready_begin_;
    chunk.crops = Tensor<std::uint8_t>(Shape{count, kMouthHeight, kMouthWidth});
    chunk.geometry = Tensor<float>(Shape{count, kLipGeometrySize});
    std::copy(ready_crops_.begin(), ready_crops_.end(), chunk.crops.data());
    std::copy(ready_geometry_.begin(), ready_geometry_.end(), chunk.geometry.data());
    chunk.valid = std::exchange(ready_valid_, {});
    chunk.picture_times = std::exchange(ready_times_, {});
    chunk.boxes = std::exchange(ready_boxes_, {});
    chunk.ends_track = finished_;
    ready_crops_.clear();
    ready_geometry_.clear();
    ready_begin_ += count;
    return chunk;
  }

 private:
  Row& row(std::int64_t tick) { return rows_[static_cast<std::size_t>(tick - rows_begin_)]; }

  MouthPose smooth_pose(std::int64_t tick) {
    static const std::array<float, 2 * kReach + 1> kSmoothing = make_smoothing();
    std::array<MouthPose, 2 * kReach + 1> poses;
    std::array<float, 2 * kReach + 1> weights{};
    std::size_t count = 0;
    const std::int64_t from = std::max(tick - kReach, rows_begin_);
    const std::int64_t to = std::min(tick + kReach + 1, end());
    for (std::int64_t i = from; i < to; ++i) {
      if (row(i).pose.eye_distance <= 0) continue;  // bridged
      poses[count] = row(i).pose;
      weights[count++] = kSmoothing[static_cast<std::size_t>(i - tick + kReach)];
    }
    return MouthPose::weighted_mean({poses.data(), count}, {weights.data(), count});
  }

  // Finishes the row of next_.
  void make_ready() {
    Row& current = row(next_);
    const bool measured = current.picture != nullptr;
    if (measured) {
      const StageScope stage(Stage::kCrop);
      const MouthPose pose = smooth_pose(next_);
      last_crop_.resize(kCropSize);
      crop_mouth(current.picture->luma.view(), pose,
                 {last_crop_.data(), Shape{kMouthHeight, kMouthWidth}});
      last_geometry_ = lip_geometry(current.landmarks, pose.eye_distance);
      last_time_ = current.picture->time;
      last_box_ = current.box;
      current.picture.reset();
    }
    ready_crops_.insert(ready_crops_.end(), last_crop_.begin(), last_crop_.end());
    ready_geometry_.insert(ready_geometry_.end(), last_geometry_.begin(), last_geometry_.end());
    ready_valid_.push_back(measured ? 1 : 0);
    ready_times_.push_back(last_time_);
    ready_boxes_.push_back(last_box_);
    ++next_;
    while (rows_begin_ + kReach < next_) {
      rows_.pop_front();
      ++rows_begin_;
    }
  }

  int track_id_;
  std::deque<Row> rows_;
  std::int64_t rows_begin_;  // tick of rows_.front()
  std::int64_t next_;        // first tick that is not ready
  bool finished_ = false;

  std::int64_t ready_begin_;
  std::vector<std::uint8_t> ready_crops_;
  std::vector<float> ready_geometry_;
  std::vector<std::uint8_t> ready_valid_;
  std::vector<MediaTime> ready_times_;
  std::vector<FaceBox> ready_boxes_;

  // The last row measured, for bridging.
  std::vector<std::uint8_t> last_crop_;
  std::array<float, kLipGeometrySize> last_geometry_{};
  MediaTime last_time_;
  FaceBox last_box_;
};

}  // namespace

struct MouthTrackExtractor::Impl {
  explicit Impl(FaceTracker face_tracker) : tracker(std::move(face_tracker)) {}

  FaceTracker tracker;
  Timeline grid{{}, kHop};
  Counters counters;
  bool finished = false;

  std::shared_ptr<const VideoFrame> waiting;  // the last picture; its ticks are not all decided
  bool waiting_is_analysed = false;
  std::vector<TrackedFace> faces;  // of `waiting` once it is analysed
  std::int64_t next_tick = 0;
  std::int64_t last_analysed_tick = 0;
  std::map<int, TrackAssembler> active;  // by the tracker's number of the track
  std::vector<TrackAssembler> ended;     // not taken yet

  bool in_reach(std::int64_t tick) const {
    return std::abs((waiting->time - grid.at(tick)).us) <= kMaxPictureDistanceUs;
  }
  void serve_ticks(MediaTime until);
  void serve(std::int64_t tick);
  void analyse(std::int64_t tick);
  void end_track(std::map<int, TrackAssembler>::iterator track);
  void end_stale_tracks(std::int64_t tick);
};

// Gives `waiting` to all ticks up to `until`.
void MouthTrackExtractor::Impl::serve_ticks(MediaTime until) {
  while (grid.at(next_tick) <= until) {
    if (active.empty() && grid.at(next_tick) > waiting->time && !in_reach(next_tick)) {
      // Nothing can happen in the rest of a hole, however long.
      const std::int64_t rest = (until - grid.at(next_tick)).us / kHop.us + 1;
      next_tick += rest;
      counters.ticks += rest;
      return;
    }
    serve(next_tick++);
  }
}

void MouthTrackExtractor::Impl::serve(std::int64_t tick) {
  ++counters.ticks;
  if (in_reach(tick)) {
    if (!waiting_is_analysed) analyse(tick);
    if (!faces.empty()) ++counters.ticks_with_face;
    for (const TrackedFace& face : faces) {
      auto track = active.find(face.track_id);
      if (track == active.end()) {
        const int id = static_cast<int>(counters.tracks++);
        track = active.try_emplace(face.track_id, id, tick).first;
      }
      track->second.add(
          tick, {waiting, face.landmarks, face.box, MouthPose::of(face.landmarks), face.confirmed});
    }
  }
  end_stale_tracks(tick);
}

void MouthTrackExtractor::Impl::analyse(std::int64_t tick) {
  const std::int64_t passed = std::max<std::int64_t>(1, tick - last_analysed_tick);
  const int ticks = static_cast<int>(std::min<std::int64_t>(passed, 1'000'000));
  faces = tracker.update(waiting->luma.view(), ticks);
  waiting_is_analysed = true;
  last_analysed_tick = tick;
  ++counters.pictures_analysed;
}

void MouthTrackExtractor::Impl::end_track(std::map<int, TrackAssembler>::iterator track) {
  track->second.finish();
  ended.push_back(std::move(track->second));
  active.erase(track);
}

void MouthTrackExtractor::Impl::end_stale_tracks(std::int64_t tick) {
  for (auto track = active.begin(); track != active.end();) {
    const auto current = track++;
    const bool too_long = tick - current->second.end() >= kMaxBridgedTicks;
    if (too_long || !tracker.is_alive(current->first)) end_track(current);
  }
}

MouthTrackExtractor::MouthTrackExtractor(std::unique_ptr<FaceDetector> detector,
                                         std::shared_ptr<const FaceLandmarker> landmarker,
                                         const FaceTrackerOptions& options)
    : impl_(std::make_unique<Impl>(
          FaceTracker(std::move(detector), std::move(landmarker), options))) {}

MouthTrackExtractor::~MouthTrackExtractor() = default;
MouthTrackExtractor::MouthTrackExtractor(MouthTrackExtractor&&) noexcept = default;
MouthTrackExtractor& MouthTrackExtractor::operator=(MouthTrackExtractor&&) noexcept = default;

void MouthTrackExtractor::push(VideoFrame frame) {
  Impl& impl = *impl_;
  if (impl.finished) {
    throw Error(ErrorCode::kInvalidArgument, "mouth tracks", "a picture came after the end");
  }
  ++impl.counters.pictures;
  const bool late = impl.waiting != nullptr && frame.time <= impl.waiting->time;
  if (frame.luma.empty() || late) {
    ++impl.counters.pictures_dropped;
    return;
  }
  if (impl.waiting == nullptr) {
    impl.grid.start = frame.time;
  } else {
    // Ticks up to the middle between two pictures take the earlier one.
    const std::int64_t gap = (frame.time - impl.waiting->time).us;
    impl.serve_ticks(impl.waiting->time + MediaDuration{gap / 2});
  }
  impl.waiting = std::make_shared<const VideoFrame>(std::move(frame));
  impl.waiting_is_analysed = false;
  impl.faces.clear();
}

void MouthTrackExtractor::finish() {
  Impl& impl = *impl_;
  if (std::exchange(impl.finished, true) || impl.waiting == nullptr) return;
  impl.serve_ticks(impl.grid.at(impl.grid.nearest(impl.waiting->time)));
  while (!impl.active.empty()) impl.end_track(impl.active.begin());
}

std::vector<MouthChunk> MouthTrackExtractor::take_ready() {
  std::vector<MouthChunk> chunks;
  for (TrackAssembler& track : impl_->ended) chunks.push_back(track.take());
  impl_->ended.clear();
  for (auto& [id, track] : impl_->active) {
    if (track.has_ready()) chunks.push_back(track.take());
  }
  std::sort(chunks.begin(), chunks.end(),
            [](const MouthChunk& a, const MouthChunk& b) { return a.track_id < b.track_id; });
  return chunks;
}

std::optional<Timeline> MouthTrackExtractor::grid() const noexcept {
  if (impl_->waiting == nullptr) return std::nullopt;
  return impl_->grid;
}

const MouthTrackExtractor::Counters& MouthTrackExtractor::counters() const noexcept {
  return impl_->counters;
}

}  // namespace av_fusion
