// Copyright 2026 The av_fusion authors. SPDX-License-Identifier: Apache-2.0
#include <dlib/image_processing/shape_predictor.h>

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <utility>

#include "av_fusion/core/error.h"
#include "av_fusion/features/face_landmarker.h"
#include "av_fusion/features/private/dlib_image.h"
#include "av_fusion/features/private/resample.h"

namespace av_fusion {
namespace {

constexpr const char* kContext = "face model";
constexpr const char* kFileName = "shape_predictor_68_face_landmarks.dat";
constexpr const char* kSystemFolders[] = {"/usr/share/dlib", "/usr/local/share/dlib",
                                          "/usr/share/av_fusion", "/usr/local/share/av_fusion"};

// dlib answers in whole pixels, so the face is brought to this width first: one pixel is then less
// than a hundredth of the eye distance.
constexpr double kFaceWidthPx = 256;
// How much is kept around the box on each side, as a share of its width: the jaw and a turned head
// reach over the detector's box.
constexpr double kMargin = 0.3;

class DlibFaceLandmarker final : public FaceLandmarker {
 public:
  explicit DlibFaceLandmarker(dlib::shape_predictor predictor) : predictor_(std::move(predictor)) {}

  FaceLandmarks locate(TensorView<const std::uint8_t> luma, const FaceBox& box) const override {
    expect_shape(luma.shape(), Shape{kAny, kAny}, "face landmarks: luma");
    const bool sensible = box.width >= 1 && box.height >= 1 && box.height <= 4 * box.width &&
                          std::isfinite(box.x) && std::isfinite(box.y) && std::isfinite(box.width);
    if (luma.empty() || !sensible) {
      throw Error(
          ErrorCode::kInvalidArgument, "face landmarks",
          "the picture must not be empty and the face box must be at least 1 pixel wide and "
          "high and at most four times as high as wide");
    }
    const double margin = kMargin * box.width;
    const PictureRegion region{box.x - margin, box.y - margin, box.width + 2 * margin,
                               box.height + 2 * margin};
    const double scale = kFaceWidthPx / box.width;
    const int columns = static_cast<int>(std::lround(region.width * scale));
    const int rows = static_cast<int>(std::lround(region.height * scale));
    const Tensor<std::uint8_t> patch = resample(luma, region, rows, columns);
    return predict(patch, margin * scale, region, scale);
  }

 private:
  FaceLandmarks predict(const Tensor<std::uint8_t>& patch, double margin,
                        const PictureRegion& region, double scale) const {
    const auto left = std::lround(margin);
    const dlib::rectangle face(left, left, patch.dim(1) - 1 - left, patch.dim(0) - 1 - left);
    const dlib::full_object_detection shape = predictor_(DlibImage{patch.view()}, face);
    FaceLandmarks landmarks;
    for (unsigned long i = 0; i < FaceLandmarks::kCount; ++i) {
      const dlib::point& point = shape.part(i);  // whole number = centre of that pixel
      landmarks.points[i] = {
          static_cast<float>(region.x + (static_cast<double>(point.x()) + 0.5) / scale),
          static_cast<float>(region.y + (static_cast<double>(point.y()) + 0.5) / scale)};
    }
    return landmarks;
  }

  dlib::shape_predictor predictor_;
};

}  // namespace

std::string find_face_model(const std::string& path) {
  std::string chosen = path;
  if (chosen.empty()) {
    const char* variable = std::getenv("AV_FUSION_FACE_MODEL");
    if (variable != nullptr) chosen = variable;
  }
  std::error_code ignored;
  if (!chosen.empty()) {
    if (std::filesystem::is_regular_file(chosen, ignored)) return chosen;
    throw Error(ErrorCode::kNotFound, kContext, "there is no file \"" + chosen + "\"");
  }
  for (const char* folder : kSystemFolders) {
    const auto candidate = std::filesystem::path(folder) / kFileName;
    if (std::filesystem::is_regular_file(candidate, ignored)) return candidate.string();
  }
  throw Error(ErrorCode::kNotFound, kContext,
              std::string(kFileName) +
                  " is not in /usr/share/dlib or a similar place; install Debian's package "
                  "libdlib-data, or name the file with --face-model or AV_FUSION_FACE_MODEL");
}

std::shared_ptr<const FaceLandmarker> make_dlib_face_landmarker(const std::string& path) {
  const std::string file = find_face_model(path);
  dlib::shape_predictor predictor;
  try {
    std::ifstream stream(file, std::ios::binary);
    if (!stream) throw Error(ErrorCode::kIo, kContext, "cannot open \"" + file + "\"");
    dlib::deserialize(predictor, stream);
  } catch (const dlib::serialization_error& error) {
    throw Error(ErrorCode::kCorruptData, kContext,
                "\"" + file + "\" is not a landmark model of dlib: " + error.what());
  }
  if (predictor.num_parts() != FaceLandmarks::kCount) {
    throw Error(
        ErrorCode::kCorruptData, kContext,
        "\"" + file + "\" places " + std::to_string(predictor.num_parts()) + " points, not 68");
  }
  return std::make_shared<DlibFaceLandmarker>(std::move(predictor));
}

}  // namespace av_fusion
