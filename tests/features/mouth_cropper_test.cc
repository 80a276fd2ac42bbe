// Copyright 2026 The av_fusion authors. SPDX-License-Identifier: Apache-2.0
#include "av_fusion/features/mouth_cropper.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "av_fusion/core/error.h"
#include "fake_faces.h"

namespace av_fusion {
namespace {

using testing::face_point;
using testing::fake_landmarks;
using testing::FakeFace;

// A drawing in face coordinates: dark lips at the mouth, light skin with a soft gradient.
double drawing(double u, double v) {
  const double lips = std::pow(u / 0.4, 2) + std::pow((v - testing::kMouth) / 0.12, 2);
  return 160 + 30 * u + 20 * (v - 1) - 110 * std::exp(-lips);
}

template <typename Drawing>
Tensor<std::uint8_t> paint(const FakeFace& face, int rows, int columns, Drawing&& value) {
  Tensor<std::uint8_t> luma(Shape{rows, columns});
  const double c = std::cos(face.angle) / face.eye_distance;
  const double s = std::sin(face.angle) / face.eye_distance;
  for (int y = 0; y < rows; ++y) {
    for (int x = 0; x < columns; ++x) {
      const double dx = x + 0.5 - face.x, dy = y + 0.5 - face.y;
      luma.view()(y, x) = static_cast<std::uint8_t>(
          std::clamp(value(c * dx + s * dy, c * dy - s * dx), 0.0, 255.0));
    }
  }
  return luma;
}

Tensor<std::uint8_t> crop(const Tensor<std::uint8_t>& luma, const MouthPose& pose) {
  Tensor<std::uint8_t> out(Shape{kMouthHeight, kMouthWidth});
  crop_mouth(luma.view(), pose, out.view());
  return out;
}

struct Layout {
  double eye_distance, angle;
};

class MouthCropOfADrawnFace : public ::testing::TestWithParam<Layout> {};

// Whatever size and tilt the face has, the crop shows the same part of the drawing.
TEST_P(MouthCropOfADrawnFace, ShowsTheMouthAtTheSamePlaceAndSize) {
  const auto [eye_distance, angle] = GetParam();
  const int side = static_cast<int>(eye_distance * 5);
  const FakeFace face{side * 0.51, side * 0.43, eye_distance, angle};
  const Tensor<std::uint8_t> luma = paint(face, side, side + 7, drawing);
  const MouthPose pose = MouthPose::of(fake_landmarks(face));
  // Corners at 1.0 and the point 0.4 below the nose base at 1.0: the anchor is (0, 1).
  const auto anchor = face_point(face, 0, 1);
  EXPECT_NEAR(pose.anchor.x, anchor.x, 0.01 * eye_distance);
  EXPECT_NEAR(pose.anchor.y, anchor.y, 0.01 * eye_distance);
  EXPECT_NEAR(pose.eye_distance, eye_distance, 0.01 * eye_distance);
  EXPECT_NEAR(pose.angle, angle, 0.01);
  const Tensor<std::uint8_t> out = crop(luma, pose);
  double sum = 0, worst = 0;
  for (int y = 0; y < kMouthHeight; ++y) {
    for (int x = 0; x < kMouthWidth; ++x) {
      const double expected = drawing((x + 0.5 - 48) / 64, 1 + (y + 0.5 - 32) / 64);
      const double error = std::abs(out.view()(y, x) - expected);
      sum += error;
      worst = std::max(worst, error);
    }
  }
  EXPECT_LT(sum / (kMouthHeight * kMouthWidth), 1.5);
  EXPECT_LT(worst, eye_distance < 30 ? 12 : 6);
}

INSTANTIATE_TEST_SUITE_P(SizesAndTilts, MouthCropOfADrawnFace,
                         ::testing::Values(Layout{20, 0}, Layout{45, 0}, Layout{64, 0},
                                           Layout{64, 0.3}, Layout{64, -0.6}, Layout{100, 0.1},
                                           Layout{150, -0.2}, Layout{240, 0.25}, Layout{400, 0.4}));

TEST(MouthCrop, AveragesFinePatternsOfLargeFaces) {
  for (const double eye_distance : {128.0, 300.0}) {
    const int side = static_cast<int>(eye_distance * 4);
    Tensor<std::uint8_t> luma(Shape{side, side});
    for (int y = 0; y < side; ++y) {
      for (int x = 0; x < side; ++x) luma.view()(y, x) = (x + y) % 2 == 0 ? 40 : 200;
    }
    MouthPose pose;
    pose.anchor = {static_cast<float>(side) / 2, static_cast<float>(side) / 2};
    pose.eye_distance = static_cast<float>(eye_distance);
    pose.angle = 0.05F;
    const Tensor<std::uint8_t> out = crop(luma, pose);
    for (const std::uint8_t pixel : out.elements()) ASSERT_NEAR(pixel, 120, 30);
  }
}

TEST(MouthCrop, RepeatsTheBorderOutsideThePicture) {
  Tensor<std::uint8_t> luma(Shape{50, 50});
  for (std::uint8_t& pixel : luma.elements()) pixel = 77;
  MouthPose pose;
  pose.anchor = {0, 49};
  for (const float eye_distance : {40.0F, 400.0F}) {
    pose.eye_distance = eye_distance;
    const Tensor<std::uint8_t> out = crop(luma, pose);
    for (const std::uint8_t pixel : out.elements()) ASSERT_EQ(pixel, 77);
  }
}

TEST(MouthCrop, ReadsAStridedPicture) {
  const FakeFace face{150, 120, 50};
  const Tensor<std::uint8_t> wide = paint(face, 300, 400, drawing);
  Tensor<std::uint8_t> narrow(Shape{300, 320});
  for (int y = 0; y < 300; ++y) {
    std::copy_n(wide.data() + y * 400, 320, narrow.data() + y * 320);
  }
  const TensorView<const std::uint8_t> strided(wide.data(), Shape{300, 320}, Shape{400, 1});
  const MouthPose pose = MouthPose::of(fake_landmarks(face));
  Tensor<std::uint8_t> a(Shape{kMouthHeight, kMouthWidth});
  crop_mouth(strided, pose, a.view());
  const Tensor<std::uint8_t> b = crop(narrow, pose);
  EXPECT_TRUE(std::equal(a.data(), a.data() + a.num_elements(), b.data()));
}

TEST(MouthCrop, RefusesNonsense) {
  const Tensor<std::uint8_t> luma(Shape{50, 50});
  Tensor<std::uint8_t> wrong(Shape{kMouthWidth, kMouthHeight});
  MouthPose pose;
  pose.eye_distance = 10;
  EXPECT_THROW(crop_mouth(luma.view(), pose, wrong.view()), Error);
  pose.eye_distance = 0;
  EXPECT_THROW(crop(luma, pose), Error);
  pose.eye_distance = std::nanf("");
  EXPECT_THROW(crop(luma, pose), Error);
  pose.eye_distance = 10;
  EXPECT_THROW(crop(Tensor<std::uint8_t>(Shape{0, 10}), pose), Error);
}

TEST(MouthPose, DoesNotFollowTheJaw) {
  FakeFace face{100, 100, 50, 0.2};
  const MouthPose closed = MouthPose::of(fake_landmarks(face));
  face.opening = 0.5;
  const MouthPose open = MouthPose::of(fake_landmarks(face));
  EXPECT_FLOAT_EQ(open.anchor.x, closed.anchor.x);
  EXPECT_FLOAT_EQ(open.anchor.y, closed.anchor.y);
}

TEST(MouthPose, MeanGoesTheShortWayRoundTheCircle) {
  const std::vector<MouthPose> poses = {{{0, 2}, 10, 3.1F}, {{4, 6}, 20, -3.1F}};
  const MouthPose mean = MouthPose::weighted_mean(poses, std::vector<float>{3, 1});
  EXPECT_FLOAT_EQ(mean.anchor.x, 1);
  EXPECT_FLOAT_EQ(mean.anchor.y, 3);
  EXPECT_FLOAT_EQ(mean.eye_distance, 12.5F);
  EXPECT_GT(std::abs(mean.angle), 3.1F);
}

TEST(LipGeometry, MeasuresTheDrawnFaceAtAnySizeAndTilt) {
  for (const double eye_distance : {15.0, 64.0, 300.0}) {
    for (const double angle : {0.0, -0.5, 0.7}) {
      const FakeFace face{500, 400, eye_distance, angle, 0.3};
      const auto geometry = lip_geometry(fake_landmarks(face), static_cast<float>(eye_distance));
      EXPECT_NEAR(geometry[0], 0.3, 1e-3);        // inner opening
      EXPECT_NEAR(geometry[1], 0.3 + 0.2, 1e-3);  // outer opening
      EXPECT_NEAR(geometry[2], 0.8, 1e-3);        // outer width
      EXPECT_NEAR(geometry[3], 0.6, 1e-3);        // inner width
      EXPECT_NEAR(geometry[4], 1.1 + 0.3, 1e-3);  // nose base to chin
      EXPECT_NEAR(geometry[5], 0.3, 1e-3);        // nose base to upper lip
    }
  }
}

}  // namespace
}  // namespace av_fusion
