// Copyright 2026 The av_fusion authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "av_fusion/core/tensor_view.h"
#include "av_fusion/features/face_box.h"

namespace av_fusion {

/// Finds faces in single pictures. An object belongs to one thread at a time.
class FaceDetector {
 public:
  virtual ~FaceDetector() = default;

  /// The faces in `luma` [height, width], surest first. The picture is only read, and only during
  /// the call.
  virtual std::vector<FaceBox> detect(TensorView<const std::uint8_t> luma) = 0;
};

struct DlibFaceDetectorOptions {
  /// A picture with a longer side than this is shrunk to it, in pixels. The smallest face that can
  /// be found is about 80 pixels wide in the shrunk picture.
  int max_side_px = 720;
  /// A picture whose longer side is at most this and in which no face is found is searched once
  /// more at twice the size, in pixels.
  int enlarge_up_to_side_px = 400;
  /// Faces below this score are not reported; the useful range is about -0.3 (more faces, more
  /// false ones) to 0.5.
  double min_score = 0.0;
};

/// dlib's frontal face detector (histograms of oriented gradients; no file needed). Throws
/// `Error(kInvalidArgument)` for sizes that are not positive.
std::unique_ptr<FaceDetector> make_dlib_face_detector(const DlibFaceDetectorOptions& options = {});

}  // namespace av_fusion
