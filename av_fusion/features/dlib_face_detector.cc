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
// A face that one filter finds like this needs no other.
constexpr float kClearScore = 0.3F;

// Sizes looked for then, each a fifth larger than the one before.
constexpr unsigned long kNearSizes = 3;

using Detector = dlib::frontal_face_detector;

/// `filters` of `all`, for surroundings of the near size.
Detector near_detector(const Detector& all, const std::vector<unsigned long>& filters) {
  Detector::image_scanner_type scanner;
  scanner.copy_configuration(all.get_scanner());
  scanner.set_max_pyramid_levels(kNearSizes);
  std::vector<Detector::feature_vector_type> weights;
  for (const unsigned long filter : filters) weights.push_back(all.get_w(filter));
  return {scanner, all.get_overlap_tester(), weights};
}

/// dlib's detector, which holds filters for faces seen from the front, half from the left and half
/// from the right, and tilted; the same for surroundings of the near size; and each filter alone
/// for those, which is several times as fast.
struct Detectors {
  Detector all = dlib::get_frontal_face_detector();
  Detector near;
  std::vector<Detector> near_by_filter;

  Detectors() {
    std::vector<unsigned long> filters;
    for (unsigned long i = 0; i < all.num_detectors(); ++i) {
      filters.push_back(i);
      near_by_filter.push_back(near_detector(all, {i}));
    }
    near = near_detector(all, filters);
  }
};

// Unpacking the detector takes about half a second, copying it almost nothing.
const Detectors& prototypes() {
  static const Detectors kPrototypes;
  return kPrototypes;
}

class DlibFaceDetector final : public FaceDetector {
 public:
  explicit DlibFaceDetector(const DlibFaceDetectorOptions& options)
      : options_(options), detectors_(prototypes()) {
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
    const double pixel = side / kNearSidePx;
    std::vector<FaceBox> boxes =
        run(detectors_.near_by_filter[latest_filter_], around.view(), pixel, pixel);
    if (boxes.empty() || boxes.front().score < kClearScore) {
      unsigned long filter = latest_filter_;
      boxes = run(detectors_.near, around.view(), pixel, pixel, &filter);
      latest_filter_ = filter;
    }
    for (FaceBox& box : boxes) {
      box.x += static_cast<float>(x);
      box.y += static_cast<float>(y);
    }
    return boxes;
  }

 private:
  std::vector<FaceBox> detect_scaled(TensorView<const std::uint8_t> luma, double scale) {
    if (scale == 1.0) return run(detectors_.all, luma, 1.0, 1.0);
    const auto rows = std::max(1, static_cast<int>(std::lround(scale * double(luma.dim(0)))));
    const auto columns = std::max(1, static_cast<int>(std::lround(scale * double(luma.dim(1)))));
    const PictureRegion all{0, 0, double(luma.dim(1)), double(luma.dim(0))};
    const Tensor<std::uint8_t> scaled = resample(luma, all, rows, columns);
    return run(detectors_.all, scaled.view(), all.width / columns, all.height / rows);
  }

  /// `filter`: becomes the one that found the surest face, if there is one.
  std::vector<FaceBox> run(Detector& detector, TensorView<const std::uint8_t> luma, double x_scale,
                           double y_scale, unsigned long* filter = nullptr) const {
    std::vector<dlib::rect_detection> found;
    try {
      detector(DlibImage{luma}, found, options_.min_score);
    } catch (const std::exception& error) {
      throw Error(ErrorCode::kInternal, "face detector", error.what());
    }
    if (filter != nullptr && !found.empty()) *filter = found.front().weight_index;
    std::vector<FaceBox> boxes;
    for (const dlib::rect_detection& face : found) {
      boxes.push_back({static_cast<float>(double(face.rect.left()) * x_scale),
                       static_cast<float>(double(face.rect.top()) * y_scale),
                       static_cast<float>(double(face.rect.width()) * x_scale),
                       static_cast<float>(double(face.rect.height()) * y_scale),
                       static_cast<float>(face.detection_confidence)});
    }
    return boxes;
  }

  DlibFaceDetectorOptions options_;
  Detectors detectors_;
  unsigned long latest_filter_ = 0;  // that found a face nearby
};

}  // namespace

std::unique_ptr<FaceDetector> make_dlib_face_detector(const DlibFaceDetectorOptions& options) {
  return std::make_unique<DlibFaceDetector>(options);
}

}  // namespace av_fusion
