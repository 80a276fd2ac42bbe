// Copyright 2026 The av_fusion authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdlib>
#include <span>

namespace av_fusion {

/// Index of the largest element; of equal ones the one nearest to the middle, so that a flat curve
/// peaks at its centre. `values` is not empty and holds no NaN.
template <typename T>
std::size_t peak_index(std::span<const T> values) {
  const auto middle = static_cast<std::ptrdiff_t>(values.size() / 2);
  const auto distance = [&](std::size_t i) {
    return std::abs(static_cast<std::ptrdiff_t>(i) - middle);
  };
  std::size_t best = 0;
  for (std::size_t i = 1; i < values.size(); ++i) {
    if (values[i] > values[best] || (values[i] == values[best] && distance(i) < distance(best))) {
      best = i;
    }
  }
  return best;
}

}  // namespace av_fusion
