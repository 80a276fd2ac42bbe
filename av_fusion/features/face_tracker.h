// Copyright 2026 The av_fusion authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "av_fusion/core/tensor_view.h"
#include "av_fusion/features/face_box.h"
#include "av_fusion/features/face_detector.h"
#include "av_fusion/features/face_landmarker.h"
#include "av_fusion/features/face_landmarks.h"

namespace av_fusion {

/// One face in one picture.
struct TrackedFace {
  int track_id = 0;         ///< the same number as long as it is taken for the same face
  FaceLandmarks landmarks;  ///< in pixels of this picture
  FaceBox box;              ///< the box the landmarks were found in
  bool confirmed = true;  ///< false once a detection has missed the face, until one finds it again
};

struct FaceTrackerOptions {
  int detect_every = 6;           ///< ticks (of 40 ms) after which faces are looked for again
  int detect_every_missed = 3;    ///< the same after a detection has missed a face
  int search_every = 40;          ///< after so many, not only near the faces that are followed, if
                                  ///< the picture has changed elsewhere
  int search_always_every = 150;  ///< after so many in any case
  int drop_after_ticks = 15;      ///< a face that no detection confirms for so long is given up
  int max_lost_ticks = 5;         ///< so many ticks the landmarks may make no sense
  float min_new_score = 0;        ///< a detection below this confirms a face but starts no track
  float min_eye_distance_px = 9;  ///< smaller faces are not followed
};

/// Follows faces through pictures: now and then a detection, near the faces that are followed or in
/// the whole picture, landmarks on every picture, found in a box that comes from the landmarks of
/// the picture before. Without a face to follow every detection searches the whole picture. A scene
/// cut ends all tracks and detects at once, and so does a hole of more than `max_lost_ticks`
/// between two pictures.
///
/// Not thread-safe: one tracker belongs to one stream. The state has a fixed size per face.
class FaceTracker {
 public:
  /// Throws `Error(kInvalidArgument)` for null pointers and options below 1.
  FaceTracker(std::unique_ptr<FaceDetector> detector,
              std::shared_ptr<const FaceLandmarker> landmarker,
              const FaceTrackerOptions& options = {});
  ~FaceTracker();
  FaceTracker(FaceTracker&&) noexcept;
  FaceTracker& operator=(FaceTracker&&) noexcept;

  /// Takes the next picture `luma` [height, width], `ticks` >= 1 ticks of the 25 Hz grid after the
  /// one before, and returns the faces in it, ordered by track id. A track that is missing in one
  /// answer may come back (see `FaceTrackerOptions::max_lost_ticks`).
  std::vector<TrackedFace> update(TensorView<const std::uint8_t> luma, int ticks = 1);

  /// Whether the track may still appear in a later answer.
  bool is_alive(int track_id) const noexcept;

  /// How many tracks there have been.
  int tracks_seen() const noexcept;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace av_fusion
