// Copyright 2026 The av_fusion authors. SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <vector>

#include "av_fusion/part_plan_internal.h"

namespace av_fusion {
namespace {

std::vector<AnalysedPart> parts_of(double seconds) {
  return spread_parts(MediaDuration::from_seconds(seconds));
}

/// Which of `count` equal shares of the file the middle of a part lies in.
int share_of(const AnalysedPart& part, double length_s, int count) {
  return static_cast<int>((part.start.seconds() + part.end.seconds()) / 2 / length_s * count);
}

TEST(SpreadParts, ShortFilesAreTakenWhole) {
  EXPECT_TRUE(parts_of(0).empty());
  EXPECT_TRUE(parts_of(119.9).empty());
  EXPECT_EQ(parts_of(120).size(), kFewestParts);
}

TEST(SpreadParts, TakeAtMostAnEighthOrTheFewest) {
  for (const double seconds : {120.0, 500.0, 767.9, 768.1, 3600.0, 10800.0}) {
    SCOPED_TRACE(seconds);
    double sum = 0;
    for (const AnalysedPart& part : parts_of(seconds)) {
      EXPECT_NEAR((part.end - part.start).seconds(), 12, 1e-9);
      sum += (part.end - part.start).seconds();
    }
    EXPECT_LE(sum, std::max(48.0, seconds / 8));
    EXPECT_GT(sum, seconds / 17);  // no needless halving
  }
}

TEST(SpreadParts, EveryBeginningOfTheListIsSpreadEvenly) {
  constexpr double kSeconds = 10'800;
  const std::vector<AnalysedPart> parts = parts_of(kSeconds);
  ASSERT_EQ(parts.size(), 64U);
  for (int count = 1; count <= 64; count *= 2) {
    std::set<int> shares;
    for (int i = 0; i < count; ++i) {
      shares.insert(share_of(parts[static_cast<std::size_t>(i)], kSeconds, count));
    }
    EXPECT_EQ(shares.size(), static_cast<std::size_t>(count));
  }
}

TEST(SpreadParts, LieInTheFileAndApart) {
  for (const double seconds : {120.0, 1000.0, 12345.678}) {
    SCOPED_TRACE(seconds);
    std::vector<AnalysedPart> parts = parts_of(seconds);
    std::sort(parts.begin(), parts.end(),
              [](const AnalysedPart& a, const AnalysedPart& b) { return a.start < b.start; });
    EXPECT_GE(parts.front().start.us, 0);
    EXPECT_LE(parts.back().end.seconds(), seconds);
    for (std::size_t i = 1; i < parts.size(); ++i) EXPECT_GT(parts[i].start, parts[i - 1].end);
  }
}

TEST(IsSettled, NeedsAnOffsetThatIsSureAndNarrowOrJudged) {
  const Tolerance tolerance{"t", "", 45, -125};
  EXPECT_FALSE(is_settled(std::nullopt, std::nullopt));
  EXPECT_FALSE(is_settled(std::nullopt, tolerance));
  EXPECT_TRUE(is_settled(Offset{0, -40, 40, 0.95}, std::nullopt));
  EXPECT_FALSE(is_settled(Offset{0, -40, 41, 0.95}, std::nullopt));
  EXPECT_FALSE(is_settled(Offset{0, -40, 40, 0.85}, std::nullopt));
  EXPECT_TRUE(is_settled(Offset{-40, -120, 40, 0.95}, tolerance));  // wide, but all of it passes
  EXPECT_TRUE(is_settled(Offset{200, 100, 300, 0.95}, tolerance));  // all of it fails
  EXPECT_FALSE(is_settled(Offset{40, 30, 50, 0.95}, tolerance));    // narrow, but undecided
  EXPECT_FALSE(is_settled(Offset{0, -10, 10, 0.5}, tolerance));
}

}  // namespace
}  // namespace av_fusion
