// Copyright 2026 The av_fusion authors. SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <bit>
#include <cstdint>

#include "av_fusion/nn/band_softmax_internal.h"

namespace av_fusion::internal {
namespace {

// Independent partial results, so that the compiler may use vector registers without reordering
// floating-point sums on its own.
constexpr int kLanes = 16;

// exp(x) for x <= 0, without branches or comparisons, so that g++ vectorises it for plain SSE2 too:
// x = k ln 2 + f with |f| <= ln 2 / 2, exp(f) by its Taylor series to f^7 (error below 1e-8), 2^k
// through the exponent bits. 0 below -87.
inline float exp_of_nonpositive(float x) {
  constexpr float kLog2E = 1.44269504089f;
  constexpr float kLn2High = 0.693145751953125f;  // few bits: k * kLn2High is exact
  constexpr float kLn2Low = 1.42860682030941723e-6f;
  constexpr float kRound = 12582912.0f;  // 1.5 * 2^23: adding it leaves the nearest integer in
                                         // the low bits
  const float shifted = x * kLog2E + kRound;
  const float k = shifted - kRound;
  const float f = (x - k * kLn2High) - k * kLn2Low;
  float p = 1.0f / 5040.0f;
  p = p * f + 1.0f / 720.0f;
  p = p * f + 1.0f / 120.0f;
  p = p * f + 1.0f / 24.0f;
  p = p * f + 1.0f / 6.0f;
  p = p * f + 0.5f;
  p = p * f + 1.0f;
  p = p * f + 1.0f;
  const std::uint32_t exponent = (std::bit_cast<std::uint32_t>(shifted) << 23) + (127u << 23);
  const float value = p * std::bit_cast<float>(exponent);
  const std::uint32_t too_small = std::bit_cast<std::uint32_t>(x + 87.0f) >> 31;  // the sign bit
  return std::bit_cast<float>(std::bit_cast<std::uint32_t>(value) & (too_small - 1));
}

float max_of(const float* x, std::int64_t count) {
  float lanes[kLanes];
  std::fill_n(lanes, kLanes, x[0]);
  std::int64_t i = 0;
  for (; i + kLanes <= count; i += kLanes) {
    for (int lane = 0; lane < kLanes; ++lane) {
      lanes[lane] = x[i + lane] > lanes[lane] ? x[i + lane] : lanes[lane];
    }
  }
  float result = *std::max_element(lanes, lanes + kLanes);
  for (; i < count; ++i) result = std::max(result, x[i]);
  return result;
}

float sum_of(const float* x, std::int64_t count) {
  float lanes[kLanes] = {};
  std::int64_t i = 0;
  for (; i + kLanes <= count; i += kLanes) {
    for (int lane = 0; lane < kLanes; ++lane) lanes[lane] += x[i + lane];
  }
  float result = 0.0f;
  for (const float lane : lanes) result += lane;
  for (; i < count; ++i) result += x[i];
  return result;
}

}  // namespace

void softmax_in_range(float* row, std::int64_t size, std::int64_t begin, std::int64_t end) {
  if (begin >= end) {
    std::fill_n(row, size, 0.0f);
    return;
  }
  float* const seen = row + begin;
  const std::int64_t count = end - begin;
  const float largest = max_of(seen, count);
  for (std::int64_t i = 0; i < count; ++i) seen[i] = exp_of_nonpositive(seen[i] - largest);
  const float factor = 1.0f / sum_of(seen, count);  // the sum is at least exp(0) = 1
  for (std::int64_t i = 0; i < count; ++i) seen[i] *= factor;
  std::fill(row, seen, 0.0f);
  std::fill(row + end, row + size, 0.0f);
}

}  // namespace av_fusion::internal
