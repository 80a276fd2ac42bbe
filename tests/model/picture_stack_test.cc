// Copyright 2026 The av_fusion authors. SPDX-License-Identifier: Apache-2.0
#include "av_fusion/model/private/picture_stack.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

namespace av_fusion {
namespace {

constexpr std::int64_t kHeight = 6;
constexpr std::int64_t kWidth = 12;
constexpr std::int64_t kPixels = kHeight * kWidth;

Tensor<std::uint8_t> random_pictures(std::int64_t count) {
  Tensor<std::uint8_t> pictures({count, kHeight, kWidth});
  std::mt19937 random(5);
  for (std::uint8_t& pixel : pictures.elements()) pixel = static_cast<std::uint8_t>(random() % 256);
  return pictures;
}

struct Sizes {
  std::int64_t pool;
  std::int64_t mean;
  std::int64_t stack;
};

/// Pooled pictures [T, H / pool, W / pool], 0 to 1.
std::vector<std::vector<double>> pooled(const Tensor<std::uint8_t>& pictures, std::int64_t pool) {
  std::vector<std::vector<double>> result(static_cast<std::size_t>(pictures.dim(0)));
  for (std::int64_t t = 0; t < pictures.dim(0); ++t) {
    auto& picture = result[static_cast<std::size_t>(t)];
    picture.resize(static_cast<std::size_t>(kPixels / pool / pool));
    for (std::int64_t y = 0; y < kHeight; ++y) {
      for (std::int64_t x = 0; x < kWidth; ++x) {
        picture[static_cast<std::size_t>(y / pool * (kWidth / pool) + x / pool)] +=
            pictures.view()(t, y, x) / 255.0 / static_cast<double>(pool * pool);
      }
    }
  }
  return result;
}

/// x_t of the header for all pixels of a picture, zero outside.
std::vector<double> reference(const std::vector<std::vector<double>>& pictures, std::int64_t radius,
                              std::int64_t t) {
  const std::size_t pixels = pictures[0].size();
  const auto count = static_cast<std::int64_t>(pictures.size());
  std::vector<double> x(pixels);
  if (t < 0 || t >= count) return x;
  std::vector<double> mean(pixels);
  const std::int64_t begin = std::max<std::int64_t>(0, t - radius);
  const std::int64_t end = std::min(count, t + radius + 1);
  double average = 0;
  for (std::size_t i = 0; i < pixels; ++i) {
    for (std::int64_t near = begin; near < end; ++near) {
      mean[i] += pictures[static_cast<std::size_t>(near)][i] / static_cast<double>(end - begin);
    }
    average += mean[i] / static_cast<double>(pixels);
  }
  double variance = 0;
  for (const double value : mean) {
    variance += (value - average) * (value - average) / static_cast<double>(pixels);
  }
  for (std::size_t i = 0; i < pixels; ++i) {
    x[i] = (pictures[static_cast<std::size_t>(t)][i] - mean[i]) / (std::sqrt(variance) + 0.02);
  }
  return x;
}

void check(std::int64_t count, const Sizes& sizes, std::int64_t at_once) {
  SCOPED_TRACE(::testing::Message()
               << count << " pictures, pool " << sizes.pool << ", radii " << sizes.mean << " and "
               << sizes.stack << ", " << at_once << " at once");
  const Tensor<std::uint8_t> pictures = random_pictures(count);
  PictureStack stack(pictures.view(), sizes.pool, sizes.mean, sizes.stack);
  ASSERT_EQ(stack.channels(), 2 * sizes.stack + 1);
  ASSERT_EQ(stack.height(), kHeight / sizes.pool);
  ASSERT_EQ(stack.width(), kWidth / sizes.pool);
  Tensor<float> stacks({count, stack.height(), stack.width(), stack.channels()});
  for (std::int64_t begin = 0; begin < count; begin += at_once) {
    stack.next(stacks.view().slice(begin, std::min(begin + at_once, count)));
  }
  const auto small = pooled(pictures, sizes.pool);
  for (std::int64_t t = 0; t < count; ++t) {
    for (std::int64_t k = 0; k < stack.channels(); ++k) {
      const std::vector<double> x = reference(small, sizes.mean, t + k - sizes.stack);
      for (std::int64_t i = 0; i < static_cast<std::int64_t>(x.size()); ++i) {
        ASSERT_NEAR(stacks.view()(t, i / stack.width(), i % stack.width(), k),
                    x[static_cast<std::size_t>(i)], 1e-5)
            << "stack " << t << ", pixel " << i << ", channel " << k;
      }
    }
  }
}

TEST(PictureStack, FollowsItsFormula) {
  check(23, {1, 3, 2}, 23);
  check(23, {1, 3, 2}, 4);
  check(23, {2, 3, 2}, 4);
  check(23, {3, 0, 1}, 5);
  check(9, {6, 2, 0}, 2);
  check(9, {2, 1, 5}, 3);
}

TEST(PictureStack, CanBeShorterThanItsReach) {
  check(1, {1, 12, 2}, 1);
  check(2, {2, 12, 4}, 1);
  check(5, {1, 12, 2}, 2);
}

TEST(PictureStack, AFrozenPictureIsExactlyNothingHoweverLong) {
  Tensor<std::uint8_t> pictures({3000, kHeight, kWidth});
  const Tensor<std::uint8_t> moving = random_pictures(3000);
  // It moves for a while first, so that the running sums have something to get wrong.
  std::copy_n(moving.data(), pictures.num_elements(), pictures.data());
  for (std::int64_t i = 2900 * kPixels; i < pictures.num_elements(); ++i) {
    pictures.data()[i] = static_cast<std::uint8_t>(i % kPixels * 9);
  }
  PictureStack stack(pictures.view(), 2, 12, 2);
  Tensor<float> stacks({3000, stack.height(), stack.width(), 5});
  stack.next(stacks.view());
  const auto last = stacks.view().slice(2950, 2990);
  EXPECT_TRUE(std::all_of(last.data(), last.data() + last.num_elements(),
                          [](float value) { return value == 0; }));
}

TEST(PictureStack, BlackAndWhitePicturesAreFinite) {
  Tensor<std::uint8_t> pictures({4, kHeight, kWidth});
  std::fill_n(pictures.data() + kPixels, kPixels, std::uint8_t{255});
  PictureStack stack(pictures.view(), 1, 0, 0);
  Tensor<float> stacks({4, kHeight, kWidth, 1});
  stack.next(stacks.view());
  for (const float value : stacks.elements()) EXPECT_EQ(value, 0);
}

}  // namespace
}  // namespace av_fusion
