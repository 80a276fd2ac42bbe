// Copyright 2026 The av_fusion authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>

#include "av_fusion/features/face_landmarks.h"

namespace av_fusion {

/// Where a mouth is in a picture, how large the face is and how it is tilted: the parameters of the
/// similarity transform that `MouthCropper` applies.
struct MouthPose {
  FaceLandmarks::Point anchor;  ///< centre of the mouth region, pixels
  float eye_distance = 0;       ///< pixels, > 0
  float angle = 0;              ///< radians, direction from the left to the right eye centre in the
                                ///< picture (y down); 0 = upright

  /// The pose of one face. The anchor is the mean of the middle between the mouth corners (48, 54)
  /// and of the point 0.4 eye distances below the nose base (33); neither moves with the jaw.
  static MouthPose of(const FaceLandmarks& landmarks) noexcept;

  /// The mean of `poses` with `weights` (same size, at least one pose, positive sum).
  static MouthPose weighted_mean(std::span<const MouthPose> poses,
                                 std::span<const float> weights) noexcept;
};

}  // namespace av_fusion
