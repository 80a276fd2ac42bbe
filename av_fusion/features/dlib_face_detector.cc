// Copyright 2026 The av_fusion authors. SPDX-License-Identifier: Apache-2.0
#include <dlib/geometry.h>
#include <dlib/image_processing/frontal_face_detector.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "av_fusion/core/error.h"
#include "av_fusion/features/face_detector.h"
#include "av_fusion/features/private/dlib_image.h"
#include "av_fusion/features/private/resample.h"

namespace av_fusion {
namespace {

// The surroundings of an expected face are brought to this size, which makes the face so wide: a
// little more than the 80 pixels of the smallest face that the detector finds.
constexpr int kNearSidePx = 160;
constexpr float kNearFacePx = 100;

// Unpacking the detector takes about half a second, copying it almost nothing.
const dlib::frontal_face_detector& prototype() {
  static const dlib::frontal_face_detector kPrototype = dlib::get_frontal_face_detector();
  return kPrototype;
}

class DlibFaceDetector final : public FaceDetector {
 public:
  explicit DlibFaceDetector(const DlibFaceDetectorOptions& options)
      : options_(options), detector_(prototype()) {
    if (options.max_side_px < 1 || options.second_look_side_px < 0) {
      throw Error(ErrorCode::kInvalidArgument, "face detector",
                  "the picture sizes in the options must be positive");
    }
  }

  std::vector<FaceBox> detect(TensorView<const std::uint8_t> luma) override {
    expect_shape(luma.shape(), Shape{kAny, kAny}, "face detector: luma");
    if (luma.empty()) return {};
    const auto side = static_cast<double>(std::max(luma.dim(0), luma.dim(1)));
    const double scale = std::min(1.0, options_.max_side_px / side);
    std::vector<FaceBox> boxes = detect_scaled(luma, scale);
    const double second_scale = std::min(2.0, options_.second_look_side_px / side);
    if (boxes.empty() && second_scale > scale) boxes = detect_scaled(luma, second_scale);
    return boxes;
  }

  std::vector<FaceBox> detect_near(TensorView<const std::uint8_t> luma,
                                   const FaceBox& expected) override {
    expect_shape(luma.shape(), Shape{kAny, kAny}, "face detector: luma");
    if (luma.empty() || !(expected.width > 0)) return {};
    const double side = double(expected.width) * kNearSidePx / double(kNearFacePx);
    const double x = double(expected.x) + (double(expected.width) - side) / 2;
    const double y = double(expected.y) + (double(expected.height) - side) / 2;
    const Tensor<std::uint8_t> around =
        resample(luma, PictureRegion{x, y, side, side}, kNearSidePx, kNearSidePx);
    std::vector<FaceBox> boxes = run(around.view(), side / kNearSidePx, side / kNearSidePx);
    for (FaceBox& box : boxes) {
      box.x += static_cast<float>(x);
      box.y += static_cast<float>(y);
    }
    return boxes;
  }

 private:
  std::vector<FaceBox> detect_scaled(TensorView<const std::uint8_t> luma, double scale) {
    if (scale == 1.0) return run(luma, 1.0, 1.0);
    const auto rows = std::max(1, static_cast<int>(std::lround(scale * double(luma.dim(0)))));
    const auto columns = std::max(1, static_cast<int>(std::lround(scale * double(luma.dim(1)))));
    const PictureRegion all{0, 0, double(luma.dim(1)), double(luma.dim(0))};
    const Tensor<std::uint8_t> scaled = resample(luma, all, rows, columns);
    return run(scaled.view(), all.width / columns, all.height / rows);
  }

  std::vector<FaceBox> run(TensorView<const std::uint8_t> luma, double x_scale, double y_scale) {
    std::vector<std::pair<double, dlib::rectangle>> found;
    try {
      detector_(DlibImage{luma}, found, options_.min_score);
    } catch (const std::exception& error) {
      throw Error(ErrorCode::kInternal, "face detector", error.what());
    }
    std::vector<FaceBox> boxes;
    for (const auto& [score, rectangle] : found) {
      boxes.push_back({static_cast<float>(double(rectangle.left()) * x_scale),
                       static_cast<float>(double(rectangle.top()) * y_scale),
                       static_cast<float>(double(rectangle.width()) * x_scale),
                       static_cast<float>(double(rectangle.height()) * y_scale),
                       static_cast<float>(score)});
    }
    return boxes;
  }

  DlibFaceDetectorOptions options_;
  dlib::frontal_face_detector detector_;
};

}  // namespace

std::unique_ptr<FaceDetector> make_dlib_face_detector(const DlibFaceDetectorOptions& options) {
  return std::make_unique<DlibFaceDetector>(options);
}

}  // namespace av_fusion
