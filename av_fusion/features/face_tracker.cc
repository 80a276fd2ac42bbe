// Copyright 2026 The av_fusion authors. SPDX-License-Identifier: Apache-2.0
#include "av_fusion/features/face_tracker.h"

#include <algorithm>
#include <cmath>
#include <span>
#include <utility>

#include "av_fusion/core/error.h"
#include "av_fusion/core/stage_scope.h"
#include "av_fusion/features/private/newcomer_watch.h"
#include "av_fusion/features/private/scene_cut.h"
#include "av_fusion/features/private/thumbnail.h"

namespace av_fusion {
namespace {

using Point = FaceLandmarks::Point;

// Overlap from which a detection belongs to a track, and from which a new track would be a double.
constexpr float kSameFaceOverlap = 0.3F;
// A detection that overlaps less than this shows that the box has drifted.
constexpr float kDriftOverlap = 0.55F;
// Share of a new detection in the smoothed relation between landmarks and detector boxes.
constexpr float kRelationStep = 0.3F;

// Centre and size of a face from the points that speech does not move (brows, nose, eyes).
struct FaceFrame {
  Point centre;
  float size = 0;
};

FaceFrame frame_of(const FaceLandmarks& landmarks) {
  constexpr std::size_t kBegin = 17, kEnd = 48;
  FaceFrame frame{landmarks.mean(kBegin, kEnd), 0};
  for (std::size_t i = kBegin; i < kEnd; ++i) {
    const float x = landmarks[i].x - frame.centre.x;
    const float y = landmarks[i].y - frame.centre.y;
    frame.size += x * x + y * y;
  }
  frame.size = std::sqrt(frame.size / static_cast<float>(kEnd - kBegin));
  return frame;
}

// Where the detector puts its box on a face, in units of the face's size.
struct BoxRelation {
  float x = 0, y = 0, width = 0, height = 0;
};

BoxRelation relate(const FaceBox& box, const FaceFrame& frame) {
  return {(box.x + box.width / 2 - frame.centre.x) / frame.size,
          (box.y + box.height / 2 - frame.centre.y) / frame.size, box.width / frame.size,
          box.height / frame.size};
}

FaceBox place(const BoxRelation& relation, const FaceFrame& frame, float score) {
  const float width = relation.width * frame.size;
  const float height = relation.height * frame.size;
  return {frame.centre.x + relation.x * frame.size - width / 2,
          frame.centre.y + relation.y * frame.size - height / 2, width, height, score};
}

void approach(BoxRelation& relation, const BoxRelation& target) {
  relation.x += kRelationStep * (target.x - relation.x);
  relation.y += kRelationStep * (target.y - relation.y);
  relation.width += kRelationStep * (target.width - relation.width);
  relation.height += kRelationStep * (target.height - relation.height);
}

// Whether a detector's box can be that of a face; boxes may come from outside.
bool is_sensible(const FaceBox& box) {
  return std::isfinite(box.x) && std::isfinite(box.y) && std::isfinite(box.width) &&
         box.width >= 1 && box.height >= 1 && box.height <= 2 * box.width &&
         box.width <= 2 * box.height;
}

bool is_among(const std::vector<FaceBox>& boxes, const FaceBox& face) {
  return std::any_of(boxes.begin(), boxes.end(), [&](const FaceBox& box) {
    return intersection_over_union(box, face) >= kSameFaceOverlap;
  });
}

// Whether 68 points can be a face found in `box` of a picture: eyes the right way round, mouth
// below them, sizes in proportion, at least the middle of the face inside the picture.
bool is_plausible(const FaceLandmarks& face, const FaceBox& box, const Shape& picture,
                  float min_eye_distance) {
  const Point left = face.left_eye();
  const Point right = face.right_eye();
  const float distance = face.eye_distance();
  if (!(distance >= min_eye_distance) || right.x <= left.x) return false;
  if (distance < 0.2F * box.width || distance > 0.8F * box.width) return false;
  const float x_axis = (right.x - left.x) / distance;
  const float y_axis = (right.y - left.y) / distance;
  if (x_axis < 0.6F) return false;  // tilted by more than 53 degrees
  const Point mouth = face.mean(48, 60);
  const float mouth_below =
      (mouth.y - (left.y + right.y) / 2) * x_axis - (mouth.x - (left.x + right.x) / 2) * y_axis;
  if (mouth_below < 0.5F * distance || mouth_below > 2.5F * distance) return false;
  const Point nose = face[33];
  return nose.x >= 0 && nose.y >= 0 && nose.x < static_cast<float>(picture[1]) &&
         nose.y < static_cast<float>(picture[0]) && mouth.y < static_cast<float>(picture[0]);
}

struct Track {
  int id = 0;
  FaceFrame frame;
  BoxRelation relation;
  float score = 0;
  int ticks_unconfirmed = 0;
  int ticks_lost = 0;
  bool missed = false;  // by the last detection
};

}  // namespace

struct FaceTracker::Impl {
  std::unique_ptr<FaceDetector> detector;
  std::shared_ptr<const FaceLandmarker> landmarker;
  FaceTrackerOptions options;
  SceneCutDetector scene_cut;
  NewcomerWatch newcomers;
  std::vector<Track> tracks;  // by id
  int tracks_seen = 0;
  std::int64_t ticks_since_detection = 0;
  std::int64_t ticks_since_search = 0;  // of the whole picture
  bool detected_before = false;

  std::vector<TrackedFace> update(TensorView<const std::uint8_t> luma, int ticks);
  bool detection_is_due() const;
  bool search_is_due(const Thumbnail& thumbnail, std::span<const FaceBox> expected) const;
  std::vector<FaceBox> detect(TensorView<const std::uint8_t> luma, const Thumbnail& thumbnail);
  FaceLandmarks locate(TensorView<const std::uint8_t> luma, const FaceBox& box) const;
  void match(const std::vector<FaceBox>& boxes, std::vector<FaceBox>& unmatched,
             std::vector<const FaceBox*>& support) const;
  bool follow(TensorView<const std::uint8_t> luma, const FaceBox* detection, int ticks,
              Track& track, std::vector<TrackedFace>& faces) const;
  void start(TensorView<const std::uint8_t> luma, const FaceBox& detection,
             std::vector<TrackedFace>& faces);
  void drop_doubles(std::vector<TrackedFace>& faces);
};

bool FaceTracker::Impl::detection_is_due() const {
  if (!detected_before) return true;
  const bool missed =
      std::any_of(tracks.begin(), tracks.end(), [](const Track& track) { return track.missed; });
  const int interval = missed ? options.detect_every_missed : options.detect_every;
  return ticks_since_detection >= interval;
}

// Whether a face may be in view that is not followed.
bool FaceTracker::Impl::search_is_due(const Thumbnail& thumbnail,
                                      std::span<const FaceBox> expected) const {
  if (!detected_before || tracks.empty()) return true;
  if (ticks_since_search >= options.search_always_every) return true;
  return ticks_since_search >= options.search_every && newcomers.may_have_come(thumbnail, expected);
}

// Looks at the whole picture, or only near the faces that are followed.
std::vector<FaceBox> FaceTracker::Impl::detect(TensorView<const std::uint8_t> luma,
                                               const Thumbnail& thumbnail) {
  const StageScope stage(Stage::kDetect);
  std::vector<FaceBox> expected;
  for (const Track& track : tracks) {
    expected.push_back(place(track.relation, track.frame, track.score));
  }
  std::vector<FaceBox> boxes;
  if (search_is_due(thumbnail, expected)) {
    boxes = detector->detect(luma);
    ticks_since_search = 0;
    newcomers.searched(thumbnail);
  } else {
    for (const FaceBox& face : expected) {
      for (const FaceBox& box : detector->detect_near(luma, face)) {
        if (!is_among(boxes, box)) boxes.push_back(box);  // neighbours see each other's face
      }
    }
  }
  std::erase_if(boxes, [](const FaceBox& box) { return !is_sensible(box); });
  ticks_since_detection = 0;
  detected_before = true;
  return boxes;
}

FaceLandmarks FaceTracker::Impl::locate(TensorView<const std::uint8_t> luma,
                                        const FaceBox& box) const {
  const StageScope stage(Stage::kLandmarks);
  return landmarker->locate(luma, box);
}

// Gives each track the detection that overlaps it most, best pairs first.
void FaceTracker::Impl::match(const std::vector<FaceBox>& boxes, std::vector<FaceBox>& unmatched,
                              std::vector<const FaceBox*>& support) const {
  struct Pair {
    float overlap;
    std::size_t track, box;
  };
  std::vector<Pair> pairs;
  for (std::size_t t = 0; t < tracks.size(); ++t) {
    const FaceBox expected = place(tracks[t].relation, tracks[t].frame, 0);
    for (std::size_t b = 0; b < boxes.size(); ++b) {
      const float overlap = intersection_over_union(expected, boxes[b]);
      if (overlap >= kSameFaceOverlap) pairs.push_back({overlap, t, b});
    }
  }
  std::stable_sort(pairs.begin(), pairs.end(),
                   [](const Pair& a, const Pair& b) { return a.overlap > b.overlap; });
  std::vector<bool> taken(boxes.size(), false);
  for (const Pair& pair : pairs) {
    if (support[pair.track] == nullptr && !taken[pair.box]) support[pair.track] = &boxes[pair.box];
    taken[pair.box] = true;  // a second box on a tracked face is no new face
  }
  for (std::size_t b = 0; b < boxes.size(); ++b) {
    if (!taken[b]) unmatched.push_back(boxes[b]);
  }
}

// Finds the landmarks of `track` in the next picture; false if the track ends.
bool FaceTracker::Impl::follow(TensorView<const std::uint8_t> luma, const FaceBox* detection,
                               int ticks, Track& track, std::vector<TrackedFace>& faces) const {
  track.ticks_unconfirmed = detection != nullptr ? 0 : track.ticks_unconfirmed + ticks;
  if (track.ticks_unconfirmed > options.drop_after_ticks) return false;
  FaceBox box = place(track.relation, track.frame, track.score);
  const bool lost = track.ticks_lost > 0;
  if (detection != nullptr) {
    track.score = detection->score;
    box.score = detection->score;
    if (lost || intersection_over_union(box, *detection) < kDriftOverlap) box = *detection;
  }
  const FaceLandmarks landmarks = locate(luma, box);
  const bool good = is_plausible(landmarks, box, luma.shape(), options.min_eye_distance_px);
  const FaceFrame frame = good ? frame_of(landmarks) : FaceFrame{};
  const float growth = good ? frame.size / track.frame.size : 0;
  if (!good || growth > 1.6F || growth < 0.6F) {
    track.ticks_lost += ticks;
    return track.ticks_lost <= options.max_lost_ticks;
  }
  track.ticks_lost = 0;
  track.frame = frame;
  if (detection != nullptr) approach(track.relation, relate(*detection, frame));
  faces.push_back({track.id, landmarks, box, !track.missed});
  return true;
}

void FaceTracker::Impl::start(TensorView<const std::uint8_t> luma, const FaceBox& detection,
                              std::vector<TrackedFace>& faces) {
  if (detection.score < options.min_new_score) return;
  const FaceLandmarks landmarks = locate(luma, detection);
  if (!is_plausible(landmarks, detection, luma.shape(), options.min_eye_distance_px)) return;
  Track track;
  track.id = tracks_seen++;
  track.frame = frame_of(landmarks);
  track.relation = relate(detection, track.frame);
  track.score = detection.score;
  tracks.push_back(track);
  faces.push_back({track.id, landmarks, detection, true});
}

// Two tracks may run together on one face; the older one stays.
void FaceTracker::Impl::drop_doubles(std::vector<TrackedFace>& faces) {
  for (std::size_t i = 0; i < faces.size(); ++i) {
    for (std::size_t j = faces.size(); j-- > i + 1;) {
      const FaceFrame a = frame_of(faces[i].landmarks);
      const FaceFrame b = frame_of(faces[j].landmarks);
      const float apart = FaceLandmarks::distance(a.centre, b.centre);
      if (apart > 0.5F * std::max(a.size, b.size)) continue;
      const int id = faces[j].track_id;
      std::erase_if(tracks, [id](const Track& track) { return track.id == id; });
      faces.erase(faces.begin() + static_cast<std::ptrdiff_t>(j));
    }
  }
}

std::vector<TrackedFace> FaceTracker::Impl::update(TensorView<const std::uint8_t> luma, int ticks) {
  const bool hole = ticks - 1 > options.max_lost_ticks;
  const Thumbnail thumbnail = Thumbnail::of(luma);
  if (scene_cut.is_cut(thumbnail) || hole) {
    tracks.clear();
    detected_before = false;
  }
  ticks_since_detection += ticks;
  ticks_since_search += ticks;
  std::vector<FaceBox> boxes, unmatched;
  const bool detecting = detection_is_due();
  if (detecting) boxes = detect(luma, thumbnail);
  std::vector<const FaceBox*> support(tracks.size(), nullptr);
  match(boxes, unmatched, support);
  std::vector<TrackedFace> faces;
  std::vector<Track> alive;
  for (std::size_t t = 0; t < tracks.size(); ++t) {
    if (detecting) tracks[t].missed = support[t] == nullptr;
    if (follow(luma, support[t], ticks, tracks[t], faces)) alive.push_back(tracks[t]);
  }
  tracks = std::move(alive);
  for (const FaceBox& box : unmatched) start(luma, box, faces);
  drop_doubles(faces);
  return faces;
}

FaceTracker::FaceTracker(std::unique_ptr<FaceDetector> detector,
                         std::shared_ptr<const FaceLandmarker> landmarker,
                         const FaceTrackerOptions& options)
    : impl_(std::make_unique<Impl>()) {
  if (detector == nullptr || landmarker == nullptr) {
    throw Error(ErrorCode::kInvalidArgument, "face tracker",
                "the detector and the landmarker must not be null");
  }
  if (options.detect_every < 1 || options.detect_every_missed < 1 || options.search_every < 1 ||
      options.search_always_every < 1 || options.drop_after_ticks < 1 ||
      options.max_lost_ticks < 1) {
    throw Error(ErrorCode::kInvalidArgument, "face tracker", "every interval must be at least 1");
  }
  impl_->detector = std::move(detector);
  impl_->landmarker = std::move(landmarker);
  impl_->options = options;
}

FaceTracker::~FaceTracker() = default;
FaceTracker::FaceTracker(FaceTracker&&) noexcept = default;
FaceTracker& FaceTracker::operator=(FaceTracker&&) noexcept = default;

std::vector<TrackedFace> FaceTracker::update(TensorView<const std::uint8_t> luma, int ticks) {
  expect_shape(luma.shape(), Shape{kAny, kAny}, "face tracker: luma");
  if (luma.empty() || ticks < 1) {
    throw Error(ErrorCode::kInvalidArgument, "face tracker",
                "the picture must not be empty and ticks must be at least 1");
  }
  return impl_->update(luma, ticks);
}

bool FaceTracker::is_alive(int track_id) const noexcept {
  return std::any_of(impl_->tracks.begin(), impl_->tracks.end(),
                     [track_id](const Track& track) { return track.id == track_id; });
}

int FaceTracker::tracks_seen() const noexcept { return impl_->tracks_seen; }

}  // namespace av_fusion
