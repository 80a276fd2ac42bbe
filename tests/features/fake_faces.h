// Copyright 2026 The av_fusion authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "av_fusion/features/face_detector.h"
#include "av_fusion/features/face_landmarker.h"
#include "av_fusion/media/video_frame.h"

namespace av_fusion::testing {

/// A drawn face: where it is and how far the mouth is open.
struct FakeFace {
  double x = 0;  ///< middle between the eyes, pixels
  double y = 0;
  double eye_distance = 60;  ///< pixels
  double angle = 0;          ///< radians, clockwise in the picture
  double opening = 0;        ///< distance of the lips, eye distances
  bool visible_to_detector = true;
};

/// A point in face coordinates (u to the right, v down, in eye distances from the middle between
/// the eyes) as a point of the picture.
inline FaceLandmarks::Point face_point(const FakeFace& face, double u, double v) {
  const double c = face.eye_distance * std::cos(face.angle);
  const double s = face.eye_distance * std::sin(face.angle);
  return {static_cast<float>(face.x + c * u - s * v), static_cast<float>(face.y + s * u + c * v)};
}

// Heights of the drawn face in eye distances below the eyes.
inline constexpr double kNoseBase = 0.6, kMouth = 1.0, kChin = 1.7;

inline FaceLandmarks fake_landmarks(const FakeFace& face) {
  constexpr double kPi = 3.14159265358979323846;
  FaceLandmarks landmarks;
  const auto set = [&](std::size_t i, double u, double v) {
    landmarks.points[i] = face_point(face, u, v);
  };
  for (std::size_t i = 0; i <= 16; ++i) {  // the jaw, an arc from ear to ear
    const double turn = kPi * static_cast<double>(i) / 16;
    set(i, -std::cos(turn), 0.2 + (kChin - 0.2 + face.opening) * std::sin(turn));
  }
  for (std::size_t i = 17; i <= 26; ++i) set(i, (static_cast<double>(i) - 21.5) * 0.18, -0.35);
  for (std::size_t i = 27; i <= 30; ++i) set(i, 0, 0.15 * static_cast<double>(i - 27));
  for (std::size_t i = 31; i <= 35; ++i) {
    set(i, (static_cast<double>(i) - 33) * 0.08, kNoseBase);
  }
  for (std::size_t i = 0; i < 6; ++i) {
    const double turn = kPi * static_cast<double>(i) / 3;
    set(36 + i, -0.5 + 0.15 * std::cos(turn), 0.06 * std::sin(turn));
    set(42 + i, 0.5 + 0.15 * std::cos(turn), 0.06 * std::sin(turn));
  }
  for (std::size_t i = 0; i < 12; ++i) {  // outer lip, clockwise from the left corner
    const double turn = kPi * static_cast<double>(i) / 6;
    const double down = -std::sin(turn);
    set(48 + i, -0.4 * std::cos(turn), kMouth + (down > 0 ? 0.1 + face.opening : 0.1) * down);
  }
  for (std::size_t i = 0; i < 8; ++i) {  // inner lip
    const double turn = kPi * static_cast<double>(i) / 4;
    const double down = -std::sin(turn);
    set(60 + i, -0.3 * std::cos(turn), kMouth + (down > 0 ? face.opening : 0.0) * down);
  }
  return landmarks;
}

inline FaceBox fake_box(const FakeFace& face) {
  const double side = 2.2 * face.eye_distance;
  return {static_cast<float>(face.x - side / 2), static_cast<float>(face.y - 0.4 * side),
          static_cast<float>(side), static_cast<float>(side), 1.0F};
}

/// What is in each picture; a picture carries its number in its first two pixels.
struct FakeWorld {
  std::vector<std::vector<FakeFace>> pictures;
  std::vector<int> detected_pictures;  ///< numbers of the pictures the detector saw
  std::vector<int> searched_pictures;  ///< of those, the ones that it saw whole

  static std::size_t number_of(TensorView<const std::uint8_t> luma) {
    return luma(0, 0) * std::size_t{256} + luma(0, 1);
  }

  /// Adds a picture with `faces` and returns it with a flat background.
  VideoFrame add(MediaTime time, std::vector<FakeFace> faces, int rows = 240, int columns = 320,
                 std::uint8_t background = 90) {
    VideoFrame frame{time, Tensor<std::uint8_t>(Shape{rows, columns})};
    for (std::uint8_t& pixel : frame.luma.elements()) pixel = background;
    frame.luma.data()[0] = static_cast<std::uint8_t>(pictures.size() / 256);
    frame.luma.data()[1] = static_cast<std::uint8_t>(pictures.size() % 256);
    pictures.push_back(std::move(faces));
    return frame;
  }
};

class FakeDetector final : public FaceDetector {
 public:
  explicit FakeDetector(std::shared_ptr<FakeWorld> world) : world_(std::move(world)) {}

  std::vector<FaceBox> detect(TensorView<const std::uint8_t> luma) override {
    world_->searched_pictures.push_back(static_cast<int>(FakeWorld::number_of(luma)));
    return look(luma, [](const FaceBox&) { return true; });
  }

  std::vector<FaceBox> detect_near(TensorView<const std::uint8_t> luma,
                                   const FaceBox& expected) override {
    return look(luma, [&](const FaceBox& box) {
      return std::abs(box.x - expected.x) < expected.width &&
             std::abs(box.y - expected.y) < expected.height;
    });
  }

 private:
  template <typename IsInView>
  std::vector<FaceBox> look(TensorView<const std::uint8_t> luma, IsInView is_in_view) {
    const std::size_t number = FakeWorld::number_of(luma);
    world_->detected_pictures.push_back(static_cast<int>(number));
    std::vector<FaceBox> boxes;
    for (const FakeFace& face : world_->pictures.at(number)) {
      const FaceBox box = fake_box(face);
      if (face.visible_to_detector && is_in_view(box)) boxes.push_back(box);
    }
    return boxes;
  }

  std::shared_ptr<FakeWorld> world_;
};

/// Finds the face whose middle is nearest to that of the box, or nonsense if none is near.
class FakeLandmarker final : public FaceLandmarker {
 public:
  explicit FakeLandmarker(std::shared_ptr<FakeWorld> world) : world_(std::move(world)) {}

  FaceLandmarks locate(TensorView<const std::uint8_t> luma, const FaceBox& box) const override {
    FaceLandmarks best;
    double nearest = box.width / 2;
    for (const FakeFace& face : world_->pictures.at(FakeWorld::number_of(luma))) {
      const FaceBox own = fake_box(face);
      const double distance = std::hypot(own.x + own.width / 2 - box.x - box.width / 2,
                                         own.y + own.height / 2 - box.y - box.height / 2);
      if (distance >= nearest) continue;
      nearest = distance;
      best = fake_landmarks(face);
    }
    return best;
  }

 private:
  std::shared_ptr<FakeWorld> world_;
};

}  // namespace av_fusion::testing
