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

  /// The faces around `expected`, where one of about this size is thought to be: enough to confirm
  /// it, at a fraction of the cost. The default searches the whole picture.
  virtual std::vector<FaceBox> detect_near(TensorView<const std::uint8_t> luma,
                                           const FaceBox& expected);
};

struct DlibFaceDetectorOptions {
  /// A picture with a longer side than this is shrunk to it, in pixels. The smallest face that is
  /// found is about 80 pixels wide in the shrunk picture.
  int max_side_px = 720;
  /// Where no face is found, one more search brings the longer side to this, in pixels, enlarging
  /// at most twice; 0 = no second search.
  int second_look_side_px = 960;
  /// Faces below this score are not reported. Above 0 almost all are faces; a bit below are turned
  /// and blurred faces, and false ones (see FaceTrackerOptions::min_new_score).
  double min_score = -0.3;
};

/// dlib's frontal face detector (histograms of oriented gradients; no file needed). Throws
/// `Error(kInvalidArgument)` for a `max_side_px` below 1 or a negative `second_look_side_px`.
std::unique_ptr<FaceDetector> make_dlib_face_detector(const DlibFaceDetectorOptions& options = {});

}  // namespace av_fusion
