// Copyright 2026 The av_fusion authors. SPDX-License-Identifier: Apache-2.0
#include "av_fusion/features/mouth_pose.h"

#include <cmath>
#include <cstddef>

namespace av_fusion {

MouthPose MouthPose::of(const FaceLandmarks& landmarks) noexcept {
  constexpr float kNoseToMouth = 0.4F;
  const FaceLandmarks::Point left = landmarks.left_eye();
  const FaceLandmarks::Point right = landmarks.right_eye();
  MouthPose pose;
  pose.eye_distance = FaceLandmarks::distance(left, right);
  pose.angle = std::atan2(right.y - left.y, right.x - left.x);
  const float down = kNoseToMouth * pose.eye_distance;
  const float x_below_nose = landmarks[33].x - down * std::sin(pose.angle);
  const float y_below_nose = landmarks[33].y + down * std::cos(pose.angle);
  pose.anchor = {0.25F * (landmarks[48].x + landmarks[54].x) + 0.5F * x_below_nose,
                 0.25F * (landmarks[48].y + landmarks[54].y) + 0.5F * y_below_nose};
  return pose;
}

MouthPose MouthPose::weighted_mean(std::span<const MouthPose> poses,
                                   std::span<const float> weights) noexcept {
  double total = 0, x = 0, y = 0, distance = 0, cosine = 0, sine = 0;
  for (std::size_t i = 0; i < poses.size(); ++i) {
    const double weight = weights[i];
    total += weight;
    x += weight * poses[i].anchor.x;
    y += weight * poses[i].anchor.y;
    distance += weight * poses[i].eye_distance;
    cosine += weight * std::cos(poses[i].angle);
    sine += weight * std::sin(poses[i].angle);
  }
  return {{static_cast<float>(x / total), static_cast<float>(y / total)},
          static_cast<float>(distance / total),
          static_cast<float>(std::atan2(sine, cosine))};
}

}  // namespace av_fusion
