// Copyright 2026 The av_fusion authors. SPDX-License-Identifier: Apache-2.0
#pragma once

namespace av_fusion {

/// An upright rectangle around a face, in pixels of the picture; (0, 0) is the top left corner of
/// the top left pixel. The box may reach over the border of the picture.
struct FaceBox {
  float x = 0;       ///< left edge
  float y = 0;       ///< top edge
  float width = 0;   ///< >= 0
  float height = 0;  ///< >= 0
  float score = 0;   ///< the detector's score, larger is surer; only comparable within a detector
};

/// Area of the overlap divided by the area of the union; 0 to 1.
float intersection_over_union(const FaceBox& a, const FaceBox& b) noexcept;

}  // namespace av_fusion
