// Copyright 2026 The av_fusion authors. SPDX-License-Identifier: Apache-2.0
#include "av_fusion/nn/private/half_float.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace av_fusion {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();

TEST(HalfFloat, ConvertsF16) {
  EXPECT_EQ(from_f16(0x3c00), 1.0f);
  EXPECT_EQ(from_f16(0xc000), -2.0f);
  EXPECT_EQ(from_f16(0x3555), 0.333251953125f);
  EXPECT_EQ(from_f16(0x7bff), 65504.0f);      // the largest
  EXPECT_EQ(from_f16(0x0400), 0x1p-14f);      // the smallest normal number
  EXPECT_EQ(from_f16(0x03ff), 0x1.ff8p-15f);  // the largest subnormal number
  EXPECT_EQ(from_f16(0x0001), 0x1p-24f);      // the smallest
  EXPECT_EQ(from_f16(0x8001), -0x1p-24f);
  EXPECT_EQ(from_f16(0x0000), 0.0f);
  EXPECT_TRUE(std::signbit(from_f16(0x8000)));
  EXPECT_EQ(from_f16(0x7c00), kInfinity);
  EXPECT_EQ(from_f16(0xfc00), -kInfinity);
  EXPECT_TRUE(std::isnan(from_f16(0x7e00)));
  EXPECT_TRUE(std::isnan(from_f16(0xfc01)));
}

TEST(HalfFloat, F16GrowsWithItsBits) {
  for (std::uint16_t bits = 0; bits < 0x7c00; ++bits) {
    ASSERT_LT(from_f16(bits), from_f16(static_cast<std::uint16_t>(bits + 1))) << bits;
    ASSERT_EQ(from_f16(static_cast<std::uint16_t>(bits | 0x8000)), -from_f16(bits)) << bits;
  }
}

TEST(HalfFloat, ConvertsBf16) {
  EXPECT_EQ(from_bf16(0x3f80), 1.0f);
  EXPECT_EQ(from_bf16(0xc049), -3.140625f);
  EXPECT_EQ(from_bf16(0x0001), 0x1p-133f);  // the smallest subnormal number
  EXPECT_EQ(from_bf16(0x7f80), kInfinity);
  EXPECT_EQ(from_bf16(0xff80), -kInfinity);
  EXPECT_TRUE(std::isnan(from_bf16(0x7fc0)));
}

}  // namespace
}  // namespace av_fusion
