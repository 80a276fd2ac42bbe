// Copyright 2026 The av_fusion authors. SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "av_fusion/nn/band_softmax_internal.h"
#include "tests/nn/reference.h"

namespace av_fusion {
namespace {

class SoftmaxRanges : public testing::TestWithParam<std::pair<std::int64_t, std::int64_t>> {};

TEST_P(SoftmaxRanges, AgreesWithPlainLoops) {
  const auto [begin, end] = GetParam();
  constexpr std::int64_t kSize = 211;
  for (const float scale : {0.01f, 1.0f, 30.0f, 1e4f}) {
    Tensor<float> row = reference::random({kSize}, 5, scale);
    std::vector<bool> visible(kSize, false);
    for (std::int64_t i = begin; i < end; ++i) visible[static_cast<std::size_t>(i)] = true;
    const std::vector<double> expected =
        reference::masked_softmax(reference::to_doubles(row), visible);
    internal::softmax_in_range(row.data(), kSize, begin, end);
    reference::expect_close(row, expected, 2e-7, "softmax");
    for (std::int64_t i = 0; i < kSize; ++i) {
      if (i < begin || i >= end) {
        EXPECT_EQ(row.view()(i), 0.0f);
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Odd, SoftmaxRanges,
                         testing::Values(std::pair{0, 211}, std::pair{0, 0}, std::pair{100, 100},
                                         std::pair{120, 40}, std::pair{0, 1}, std::pair{210, 211},
                                         std::pair{13, 29}, std::pair{13, 30}, std::pair{7, 200}));

}  // namespace
}  // namespace av_fusion
