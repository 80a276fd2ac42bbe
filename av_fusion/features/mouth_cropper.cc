// Copyright 2026 The av_fusion authors. SPDX-License-Identifier: Apache-2.0
#include "av_fusion/features/mouth_cropper.h"

#include <algorithm>
#include <cmath>
#include <opencv2/imgproc.hpp>

#include "av_fusion/core/error.h"
#include "av_fusion/features/private/resample.h"

namespace av_fusion {
namespace {

// Above this many source pixels per crop pixel the surroundings of the mouth are shrunk first. The
// supersampled picture then stays so small that OpenCV does the work on the calling thread.
constexpr double kMaxSupersampling = 3;
constexpr int kShrunkPixels = 2;  // of the shrunk surroundings, for each of the crop

// A picture whose pixel (x, y) covers the source pixels from origin + scale * (x, y).
struct Source {
  Tensor<std::uint8_t> shrunk;
  TensorView<const std::uint8_t> luma;
  double origin_x = 0, origin_y = 0, scale = 1;
};

Source make_source(TensorView<const std::uint8_t> luma, const MouthPose& pose) {
  Source source;
  source.luma = luma;
  const double pixels_per_pixel = double(pose.eye_distance) / kMouthHeight;
  if (pixels_per_pixel <= kMaxSupersampling) return source;
  source.scale = pixels_per_pixel / kShrunkPixels;
  // Half of the upright rectangle around the turned crop, and what interpolation reaches beyond.
  const double cosine = std::abs(std::cos(double(pose.angle)));
  const double sine = std::abs(std::sin(double(pose.angle)));
  const auto half_of = [](double extent) {
    return static_cast<int>(std::ceil(extent * kShrunkPixels / 2)) + 2;
  };
  const int columns = half_of(kMouthWidth * cosine + kMouthHeight * sine);
  const int rows = half_of(kMouthWidth * sine + kMouthHeight * cosine);
  const PictureRegion region{pose.anchor.x - columns * source.scale,
                             pose.anchor.y - rows * source.scale, 2 * columns * source.scale,
                             2 * rows * source.scale};
  source.shrunk = resample(luma, region, 2 * rows, 2 * columns);
  source.luma = source.shrunk.view();
  source.origin_x = region.x;
  source.origin_y = region.y;
  return source;
}

// The affine map from pixel indices of a crop supersampled by `factor` to pixel indices of the
// source, as OpenCV wants it (indices are pixel centres).
cv::Matx23d crop_to_source(const MouthPose& pose, const Source& source, int factor) {
  const double step = double(pose.eye_distance) / kMouthHeight / factor / source.scale;
  const double cosine = step * std::cos(double(pose.angle));
  const double sine = step * std::sin(double(pose.angle));
  const double x_centre = kMouthWidth * factor / 2.0 - 0.5;
  const double y_centre = kMouthHeight * factor / 2.0 - 0.5;
  const double x = (double(pose.anchor.x) - source.origin_x) / source.scale - 0.5;
  const double y = (double(pose.anchor.y) - source.origin_y) / source.scale - 0.5;
  return {cosine, -sine,  x - cosine * x_centre + sine * y_centre,
          sine,   cosine, y - sine * x_centre - cosine * y_centre};
}

void check(TensorView<const std::uint8_t> luma, const MouthPose& pose,
           TensorView<std::uint8_t> crop) {
  expect_shape(luma.shape(), Shape{kAny, kAny}, "mouth crop: luma");
  expect_shape(crop.shape(), Shape{kMouthHeight, kMouthWidth}, "mouth crop: output");
  const bool finite = std::isfinite(pose.anchor.x) && std::isfinite(pose.anchor.y) &&
                      std::isfinite(pose.eye_distance) && std::isfinite(pose.angle);
  if (luma.empty() || !finite || pose.eye_distance <= 0) {
    throw Error(ErrorCode::kInvalidArgument, "mouth crop",
                "the picture must not be empty and the eye distance must be positive");
  }
}

}  // namespace

void crop_mouth(TensorView<const std::uint8_t> luma, const MouthPose& pose,
                TensorView<std::uint8_t> crop) {
  check(luma, pose, crop);
  const Source source = make_source(luma, pose);
  const double ratio = double(pose.eye_distance) / kMouthHeight / source.scale;
  const int factor = std::max(1, static_cast<int>(std::ceil(ratio - 0.05)));
  // OpenCV has no read-only matrix on foreign memory; the source is not written to.
  const cv::Mat picture(static_cast<int>(source.luma.dim(0)), static_cast<int>(source.luma.dim(1)),
                        CV_8UC1, const_cast<std::uint8_t*>(source.luma.data()),
                        static_cast<std::size_t>(source.luma.strides()[0]));
  cv::Mat out(kMouthHeight, kMouthWidth, CV_8UC1, crop.data(),
              static_cast<std::size_t>(crop.strides()[0]));
  const cv::Matx23d map = crop_to_source(pose, source, factor);
  constexpr int kFlags = cv::INTER_LINEAR | cv::WARP_INVERSE_MAP;
  try {
    if (factor == 1) {
      cv::warpAffine(picture, out, map, out.size(), kFlags, cv::BORDER_REPLICATE);
      return;
    }
    cv::Mat fine;
    cv::warpAffine(picture, fine, map, out.size() * factor, kFlags, cv::BORDER_REPLICATE);
    cv::resize(fine, out, out.size(), 0, 0, cv::INTER_AREA);
  } catch (const cv::Exception& error) {
    throw Error(ErrorCode::kInternal, "mouth crop", error.what());
  }
}

std::array<float, kLipGeometrySize> lip_geometry(const FaceLandmarks& landmarks,
                                                 float eye_distance) noexcept {
  constexpr std::array<std::array<std::size_t, 2>, kLipGeometrySize> kPairs = {
      {{62, 66}, {51, 57}, {48, 54}, {60, 64}, {33, 8}, {33, 51}}};
  std::array<float, kLipGeometrySize> geometry{};
  for (std::size_t i = 0; i < kPairs.size(); ++i) {
    geometry[i] =
        FaceLandmarks::distance(landmarks[kPairs[i][0]], landmarks[kPairs[i][1]]) / eye_distance;
  }
  return geometry;
}

}  // namespace av_fusion
