// Copyright 2026 The av_fusion authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>

#include "av_fusion/core/tensor_view.h"
#include "av_fusion/features/face_landmarks.h"
#include "av_fusion/features/mouth_pose.h"

namespace av_fusion {

inline constexpr int kMouthHeight = 64;     ///< rows of a mouth crop: 1 eye distance
inline constexpr int kMouthWidth = 96;      ///< columns of a mouth crop: 1.5 eye distances
inline constexpr int kLipGeometrySize = 6;  ///< values per picture

/// Cuts the mouth out of `luma` [height, width] into `crop` [kMouthHeight, kMouthWidth], turned
/// and scaled so that the eyes are level, one eye distance is kMouthHeight pixels and the anchor is
/// in the centre. Large faces are averaged, small ones interpolated linearly; what lies outside the
/// picture repeats its border.
///
/// Throws `Error(kShapeMismatch)` for other shapes and `Error(kInvalidArgument)` if the picture is
/// empty or the eye distance is not a positive number.
void crop_mouth(TensorView<const std::uint8_t> luma, const MouthPose& pose,
                TensorView<std::uint8_t> crop);

/// Six distances divided by `eye_distance` (pixels, > 0): inner opening (62-66), outer opening
/// (51-57), outer width (48-54), inner width (60-64), nose base to chin (33-8), nose base to upper
/// lip (33-51). They do not depend on where the face is, its size or its tilt.
std::array<float, kLipGeometrySize> lip_geometry(const FaceLandmarks& landmarks,
                                                 float eye_distance) noexcept;

}  // namespace av_fusion
