// Copyright 2026 The av_fusion authors. SPDX-License-Identifier: Apache-2.0
#include "av_fusion/features/private/resample.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

namespace av_fusion {
namespace {

Tensor<std::uint8_t> noise(int rows, int columns) {
  Tensor<std::uint8_t> luma(Shape{rows, columns});
  std::mt19937 random(6);
  for (std::uint8_t& pixel : luma.elements()) pixel = static_cast<std::uint8_t>(random() % 256);
  return luma;
}

TEST(Resample, SameSizeIsACopy) {
  const Tensor<std::uint8_t> luma = noise(17, 23);
  const Tensor<std::uint8_t> out = resample(luma.view(), {0, 0, 23, 17}, 17, 23);
  EXPECT_TRUE(std::equal(out.data(), out.data() + out.num_elements(), luma.data()));
}

TEST(Resample, ShrinkingAverages) {
  const Tensor<std::uint8_t> luma = noise(30, 45);
  const Tensor<std::uint8_t> out = resample(luma.view(), {0, 0, 45, 30}, 10, 15);
  for (int y = 0; y < 10; ++y) {
    for (int x = 0; x < 15; ++x) {
      double sum = 0;
      for (int i = 0; i < 9; ++i) sum += luma.view()(3 * y + i / 3, 3 * x + i % 3);
      ASSERT_NEAR(out.view()(y, x), sum / 9, 0.51);
    }
  }
}

TEST(Resample, AWholePictureKeepsItsMeanAtAnyRatio) {
  const Tensor<std::uint8_t> luma = noise(101, 67);
  double mean = 0, out_mean = 0;
  for (const std::uint8_t pixel : luma.elements()) mean += pixel;
  const Tensor<std::uint8_t> out = resample(luma.view(), {0, 0, 67, 101}, 43, 29);
  for (const std::uint8_t pixel : out.elements()) out_mean += pixel;
  EXPECT_NEAR(out_mean / double(out.num_elements()), mean / double(luma.num_elements()), 0.3);
}

TEST(Resample, ARampStaysARampWhereItGrowsAndWhereItShrinks) {
  Tensor<std::uint8_t> luma(Shape{60, 80});
  for (int y = 0; y < 60; ++y) {
    for (int x = 0; x < 80; ++x) luma.view()(y, x) = static_cast<std::uint8_t>(2 * x + y);
  }
  for (const int columns : {7, 25, 50, 200}) {
    const PictureRegion region{10.25, 5.5, 50, 40};
    const Tensor<std::uint8_t> out = resample(luma.view(), region, 4 * columns / 5, columns);
    for (int y = 0; y < out.dim(0); ++y) {
      for (int x = 0; x < columns; ++x) {
        const double at_x = region.x + (x + 0.5) * 50 / columns - 0.5;
        const double at_y = region.y + (y + 0.5) * 40 / double(out.dim(0)) - 0.5;
        ASSERT_NEAR(out.view()(y, x), 2 * at_x + at_y, 0.6) << columns;
      }
    }
  }
}

TEST(Resample, RepeatsTheBorder) {
  Tensor<std::uint8_t> luma(Shape{4, 4});
  for (std::uint8_t& pixel : luma.elements()) pixel = 50;
  for (const int size : {2, 8, 64}) {
    for (const PictureRegion region : {PictureRegion{-8, -8, 20, 20}, PictureRegion{-30, 2, 9, 9},
                                       PictureRegion{40, 40, 16, 16}}) {
      const Tensor<std::uint8_t> out = resample(luma.view(), region, size, size);
      for (const std::uint8_t pixel : out.elements()) ASSERT_EQ(pixel, 50);
    }
  }
  const Tensor<std::uint8_t> one = noise(1, 1);
  const Tensor<std::uint8_t> out = resample(one.view(), {0, 0, 1, 1}, 5, 5);
  for (const std::uint8_t pixel : out.elements()) ASSERT_EQ(pixel, one.data()[0]);
}

}  // namespace
}  // namespace av_fusion
