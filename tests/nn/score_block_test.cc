// Copyright 2026 The av_fusion authors. SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "av_fusion/nn/score_block_internal.h"

namespace av_fusion::internal {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();

// One row of scores seen in blocks, as attention does it.
struct Row {
  std::vector<float> scores;
  std::vector<float> out{0.0f};
  float reference = 0.0f;
  float sum = 0.0f;

  // Softmax of all scores, from blocks of `step`; keys outside of `seen` are hidden.
  std::vector<double> softmax(std::int64_t step, KeyRange seen) {
    const auto count = static_cast<std::int64_t>(scores.size());
    std::vector<float> references;
    for (std::int64_t begin = 0; begin < count; begin += step) {
      const std::int64_t size = std::min(step, count - begin);
      const KeyRange visible{std::clamp<std::int64_t>(seen.begin - begin, 0, size),
                             std::clamp<std::int64_t>(seen.end - begin, 0, size)};
      accumulate_softmax({.heads = 1,
                          .rows = 1,
                          .keys = size,
                          .scores = scores.data() + begin,
                          .visible = &visible,
                          .reference = &reference,
                          .sum = &sum,
                          .first = begin == 0,
                          .out = out.data(),
                          .out_width = 1});
      references.push_back(reference);
    }
    std::vector<double> weights;
    for (std::int64_t j = 0; j < count; ++j) {
      const double then = static_cast<double>(references[static_cast<std::size_t>(j / step)]);
      const double scale = sum == 0.0f ? 0.0 : std::exp(then - static_cast<double>(reference));
      weights.push_back(static_cast<double>(scores[static_cast<std::size_t>(j)]) *
                        (sum == 0.0f ? 0.0 : scale / static_cast<double>(sum)));
    }
    return weights;
  }
};

std::vector<double> expected_softmax(const std::vector<float>& scores, KeyRange seen) {
  double largest = -std::numeric_limits<double>::infinity();
  const auto at = [&](std::int64_t j) {
    return static_cast<double>(scores[static_cast<std::size_t>(j)]);
  };
  for (std::int64_t j = seen.begin; j < seen.end; ++j) largest = std::max(largest, at(j));
  std::vector<double> weights(scores.size(), 0.0);
  double sum = 0.0;
  for (std::int64_t j = seen.begin; j < seen.end; ++j) {
    sum += weights[static_cast<std::size_t>(j)] = std::exp(at(j) - largest);
  }
  for (double& weight : weights) weight = sum > 0.0 ? weight / sum : 0.0;
  return weights;
}

struct Case {
  std::int64_t size, step;
  KeyRange seen;
  float spread;
};

class ScoreBlockTest : public testing::TestWithParam<Case> {};

TEST_P(ScoreBlockTest, BlocksAddUpToSoftmax) {
  const Case& given = GetParam();
  std::mt19937 random(static_cast<unsigned>(given.size));
  std::normal_distribution<float> normal(0.0f, given.spread);
  Row row;
  for (std::int64_t j = 0; j < given.size; ++j) row.scores.push_back(normal(random));
  const std::vector<double> expected = expected_softmax(row.scores, given.seen);
  const std::vector<double> actual = row.softmax(given.step, given.seen);
  for (std::size_t j = 0; j < expected.size(); ++j) {
    EXPECT_NEAR(actual[j], expected[j], 3e-7) << "key " << j;
  }
}

INSTANTIATE_TEST_SUITE_P(
    Sizes, ScoreBlockTest,
    testing::Values(Case{1, 1, {0, 1}, 1}, Case{16, 16, {0, 16}, 3}, Case{17, 17, {0, 17}, 3},
                    Case{63, 16, {0, 63}, 5}, Case{129, 40, {3, 120}, 5}, Case{300, 300, {7, 7}, 1},
                    Case{300, 128, {140, 141}, 1}, Case{1000, 128, {0, 1000}, 30},
                    Case{1000, 1000, {1, 999}, 100}, Case{97, 8, {0, 97}, 1000}));

TEST(ScoreBlock, ExponentialIsAccurateOverItsRange) {
  Row row;
  row.scores.push_back(0.0f);
  for (int i = 0; i < 4000; ++i) row.scores.push_back(-0.0217f * static_cast<float>(i));
  const std::vector<float> before = row.scores;
  row.softmax(static_cast<std::int64_t>(before.size()), {0, 4001});
  for (std::size_t j = 0; j < before.size(); ++j) {
    const double expected = std::exp(static_cast<double>(before[j]));
    const double tolerance = 3e-7 + 8e-8 * std::abs(static_cast<double>(before[j]));
    EXPECT_NEAR(static_cast<double>(row.scores[j]), expected, tolerance * expected) << before[j];
  }
}

// Scores that grow from block to block: what was summed before has to shrink with them.
TEST(ScoreBlock, OutputFollowsTheReferencePoint) {
  float reference = 0.0f;
  float sum = 0.0f;
  float out[2] = {3.0f, 5.0f};
  float low[] = {1.0f, 0.0f};
  accumulate_softmax({.heads = 1,
                      .rows = 1,
                      .keys = 2,
                      .scores = low,
                      .reference = &reference,
                      .sum = &sum,
                      .first = true,
                      .out = out,
                      .out_width = 2});
  EXPECT_EQ(reference, 1.0f);
  EXPECT_NEAR(sum, 1.0 + std::exp(-1.0), 1e-6);
  EXPECT_EQ(out[0], 3.0f) << "not touched by the first block";
  float little[] = {9.0f};
  accumulate_softmax({.heads = 1,
                      .rows = 1,
                      .keys = 1,
                      .scores = little,
                      .reference = &reference,
                      .sum = &sum,
                      .out = out,
                      .out_width = 2});
  EXPECT_EQ(reference, 1.0f) << "small growth moves nothing";
  EXPECT_NEAR(little[0], std::exp(8.0), 1e-3);
  float much[] = {21.0f};
  accumulate_softmax({.heads = 1,
                      .rows = 1,
                      .keys = 1,
                      .scores = much,
                      .reference = &reference,
                      .sum = &sum,
                      .out = out,
                      .out_width = 2});
  EXPECT_EQ(reference, 21.0f);
  EXPECT_NEAR(out[0] / 3.0, std::exp(-20.0), 1e-14);
  EXPECT_NEAR(out[1] / 5.0, std::exp(-20.0), 1e-14);
  EXPECT_NEAR(sum, 1.0 + (1.0 + std::exp(-1.0) + std::exp(8.0)) * std::exp(-20.0), 1e-6);
}

TEST(ScoreBlock, MinusInfinityHidesKeysAndRows) {
  float scores[] = {1.0f, 2.0f, 3.0f, 1.0f, 2.0f, 3.0f};
  const float additive[] = {0.0f, -kInfinity, -1.0f, -kInfinity, -kInfinity, -kInfinity};
  float references[2];
  float sums[2];
  accumulate_softmax({.heads = 1,
                      .rows = 2,
                      .keys = 3,
                      .scores = scores,
                      .additive = additive,
                      .additive_row_step = 3,
                      .reference = references,
                      .sum = sums,
                      .first = true});
  EXPECT_NEAR(scores[0], std::exp(-1.0), 1e-6);
  EXPECT_EQ(scores[1], 0.0f);
  EXPECT_EQ(scores[2], 1.0f);
  EXPECT_EQ(sums[1], 0.0f);
  for (int j = 3; j < 6; ++j) EXPECT_EQ(scores[j], 0.0f);
}

// The bits of NaN as processors make it, as CUDA does, and with a payload.
constexpr std::uint32_t kNanBits[] = {0x7fc00000u, 0xffc00000u, 0x7fffffffu,
                                      0xffffffffu, 0x7fc00001u, 0x7fc0017fu};

TEST(ScoreBlock, NotANumberStaysOne) {
  for (const std::uint32_t bits : kNanBits) {
    for (const std::size_t size : {3u, 40u}) {
      std::vector<float> scores(size, 1.0f);
      scores[1] = std::bit_cast<float>(bits);
      float reference;
      float sum;
      accumulate_softmax({.heads = 1,
                          .rows = 1,
                          .keys = static_cast<std::int64_t>(size),
                          .scores = scores.data(),
                          .reference = &reference,
                          .sum = &sum,
                          .first = true});
      EXPECT_TRUE(std::isnan(scores[1])) << std::hex << bits;
      EXPECT_TRUE(std::isnan(sum)) << std::hex << bits;
    }
  }
}

// No number is larger than the others then, but that does not mean that all are hidden.
TEST(ScoreBlock, RowsOfNotANumberAreNotHidden) {
  for (const std::uint32_t bits : kNanBits) {
    for (const std::size_t size : {1u, 4u, 67u}) {
      std::vector<float> scores(size, std::bit_cast<float>(bits));
      scores[0] = size > 1 ? -kInfinity : scores[0];
      float reference;
      float sum;
      ScoreBlock block{.heads = 1,
                       .rows = 1,
                       .keys = static_cast<std::int64_t>(size),
                       .scores = scores.data(),
                       .reference = &reference,
                       .sum = &sum,
                       .first = true};
      accumulate_softmax(block);
      EXPECT_TRUE(std::isnan(sum)) << std::hex << bits;
      EXPECT_TRUE(std::isnan(scores.back())) << std::hex << bits;
      float later = 1.0f;
      float out = 0.0f;
      block.keys = 1;
      block.scores = &later;
      block.first = false;
      block.out = &out;
      block.out_width = 1;
      accumulate_softmax(block);
      EXPECT_TRUE(std::isnan(sum)) << "after a block of numbers";
    }
  }
}

TEST(CopyScaled, CopiesAnySizeToAnyPlace) {
  std::vector<float> from(300);
  for (std::size_t i = 0; i < from.size(); ++i) from[i] = static_cast<float>(i) + 1.0f;
  for (const bool past_cache : {false, true}) {
    for (std::int64_t count : {0, 1, 15, 16, 17, 31, 64, 77, 200}) {
      for (std::size_t shift = 0; shift < 17; ++shift) {
        std::vector<float> to(320, -1.0f);
        copy_scaled(from.data() + 3, count, 2.0f, past_cache, to.data() + shift);
        finish_writes_past_cache();
        for (std::size_t i = 0; i < to.size(); ++i) {
          const bool written = i >= shift && i < shift + static_cast<std::size_t>(count);
          ASSERT_EQ(to[i], written ? 2.0f * from[i - shift + 3] : -1.0f) << count << " " << shift;
        }
      }
    }
  }
}

TEST(RoundToBf16, NearestWithTiesToEven) {
  // bfloat16 has 7 fraction bits: 1 + 2^-7 is the number after 1.
  const float ulp = std::ldexp(1.0f, -7);
  const std::vector<float> from = {1.0f,
                                   1.0f + 0.49f * ulp,
                                   1.0f + 0.5f * ulp,
                                   1.0f + 0.51f * ulp,
                                   1.0f + 1.5f * ulp,
                                   -2.5f,
                                   0.0f,
                                   3e38f};
  const std::vector<float> expected = {1.0f, 1.0f, 1.0f, 1.0f + ulp, 1.0f + 2 * ulp, -2.5f, 0.0f};
  for (const std::size_t count : {std::size_t{7}, std::size_t{1}}) {
    std::vector<std::uint16_t> to(count);
    round_to_bf16(from.data(), static_cast<std::int64_t>(count), to.data());
    for (std::size_t i = 0; i < count; ++i) {
      EXPECT_EQ(std::bit_cast<float>(static_cast<std::uint32_t>(to[i]) << 16), expected[i]) << i;
    }
  }
  std::vector<float> many(37, 1.0f + 0.51f * ulp);
  std::vector<std::uint16_t> to(37);
  round_to_bf16(many.data(), 37, to.data());
  for (const std::uint16_t half : to) EXPECT_EQ(half, 0x3f81);
}

TEST(RoundToBf16, KeepsInfinityAndNotANumber) {
  for (const std::uint32_t bits : kNanBits) {
    for (const std::size_t count : {1u, 16u, 37u}) {
      const std::vector<float> from(count, std::bit_cast<float>(bits));
      std::vector<std::uint16_t> to(count);
      round_to_bf16(from.data(), static_cast<std::int64_t>(count), to.data());
      for (const std::uint16_t half : to) {
        const auto wide = std::bit_cast<float>(static_cast<std::uint32_t>(half) << 16);
        EXPECT_TRUE(std::isnan(wide)) << std::hex << bits << " became " << half;
      }
    }
  }
  const float from[] = {kInfinity, -kInfinity, std::numeric_limits<float>::max()};
  std::uint16_t to[3];
  round_to_bf16(from, 3, to);
  EXPECT_EQ(to[0], 0x7f80);
  EXPECT_EQ(to[1], 0xff80);
  EXPECT_EQ(to[2], 0x7f80) << "nearer to the next power of two than to the largest number";
}

}  // namespace
}  // namespace av_fusion::internal
