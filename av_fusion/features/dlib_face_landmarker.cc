// Copyright 2026 The av_fusion authors. SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <utility>
#include <vector>

#include "av_fusion/core/error.h"
#include "av_fusion/features/face_landmarker.h"
#include "av_fusion/features/private/shape_forest.h"

namespace av_fusion {
namespace {

constexpr const char* kContext = "face model";
constexpr const char* kFileName = "shape_predictor_68_face_landmarks.dat";
constexpr const char* kSystemFolders[] = {"/usr/share/dlib", "/usr/local/share/dlib",
                                          "/usr/share/av_fusion", "/usr/local/share/av_fusion"};

class DlibFaceLandmarker final : public FaceLandmarker {
 public:
  explicit DlibFaceLandmarker(ShapeForest forest) : forest_(std::move(forest)) {}

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
    const std::vector<FaceLandmarks::Point> points = forest_.locate(luma, box);
    FaceLandmarks landmarks;
    std::copy_n(points.begin(), FaceLandmarks::kCount, landmarks.points.begin());
    return landmarks;
  }

 private:
  ShapeForest forest_;
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
  ShapeForest forest;
  try {
    std::ifstream stream(file, std::ios::binary);
    if (!stream) throw Error(ErrorCode::kIo, kContext, "cannot open \"" + file + "\"");
    forest = ShapeForest::read(stream);
  } catch (const std::invalid_argument& error) {
    throw Error(ErrorCode::kCorruptData, kContext,
                "\"" + file + "\" is not a landmark model of dlib: " + error.what());
  }
  if (forest.num_points() != FaceLandmarks::kCount) {
    throw Error(
        ErrorCode::kCorruptData, kContext,
        "\"" + file + "\" places " + std::to_string(forest.num_points()) + " points, not 68");
  }
  return std::make_shared<DlibFaceLandmarker>(std::move(forest));
}

}  // namespace av_fusion
