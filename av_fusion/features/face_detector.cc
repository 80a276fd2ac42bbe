// Copyright 2026 The av_fusion authors. SPDX-License-Identifier: Apache-2.0
#include "av_fusion/features/face_detector.h"

namespace av_fusion {

std::vector<FaceBox> FaceDetector::detect_near(TensorView<const std::uint8_t> luma,
                                               const FaceBox& /*expected*/) {
  return detect(luma);
}

}  // namespace av_fusion
