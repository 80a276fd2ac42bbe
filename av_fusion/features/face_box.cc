// Copyright 2026 The av_fusion authors. SPDX-License-Identifier: Apache-2.0
#include "av_fusion/features/face_box.h"

#include <algorithm>

namespace av_fusion {

float intersection_over_union(const FaceBox& a, const FaceBox& b) noexcept {
  const float width = std::min(a.x + a.width, b.x + b.width) - std::max(a.x, b.x);
  const float height = std::min(a.y + a.height, b.y + b.height) - std::max(a.y, b.y);
  if (width <= 0 || height <= 0) return 0;
  const float both = width * height;
  return both / (a.width * a.height + b.width * b.height - both);
}

}  // namespace av_fusion
