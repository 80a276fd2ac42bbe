// Copyright 2026 The av_fusion authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "av_fusion/core/tensor_view.h"
#include "av_fusion/features/face_box.h"
#include "av_fusion/features/face_landmarks.h"

namespace av_fusion {

/// Places the 68 points on a face. Immutable: one object may be used by several threads at once.
class FaceLandmarker {
 public:
  virtual ~FaceLandmarker() = default;

  /// The points of the face in `box` of the picture `luma` [height, width]. There is always an
  /// answer; whether it makes sense is for the caller to judge. Throws `Error(kInvalidArgument)`
  /// for an empty picture or a box that is none.
  virtual FaceLandmarks locate(TensorView<const std::uint8_t> luma, const FaceBox& box) const = 0;
};

/// The file that `make_dlib_face_landmarker` opens for the option `path`: `path` itself if it is
/// not empty, else the value of the environment variable AV_FUSION_FACE_MODEL, else the first of
/// the usual system places that exists. Throws `Error(kNotFound)` with advice on what to install.
std::string find_face_model(const std::string& path = {});

/// dlib's predictor of 68 points (regression trees after Kazemi and Sullivan, CVPR 2014), read from
/// `find_face_model(path)`, about 100 MB, 40 MB in memory. The points are good to a fraction of a
/// pixel, on small faces too. Throws `Error(kNotFound)` if there is
/// no such file and `Error(kCorruptData)` if it is no predictor of 68 points.
std::shared_ptr<const FaceLandmarker> make_dlib_face_landmarker(const std::string& path = {});

}  // namespace av_fusion
