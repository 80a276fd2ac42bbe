// Copyright 2026 The av_fusion authors. SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <numeric>
#include <optional>
#include <set>
#include <string_view>
#include <thread>
#include <vector>

#include "av_fusion/core/error.h"
#include "av_fusion/core/media_time.h"
#include "av_fusion/core/shape.h"
#include "av_fusion/core/stage_clock.h"
#include "av_fusion/core/stage_scope.h"
#include "av_fusion/core/tensor.h"
#include "av_fusion/core/tensor_pool.h"
#include "av_fusion/core/timeline.h"

namespace av_fusion {
namespace {

TEST(Shape, PrintsAndCounts) {
  EXPECT_EQ(Shape({2, 100, 64}).to_string(), "[2, 100, 64]");
  EXPECT_EQ(Shape({2, 100, 64}).num_elements(), 12800);
  EXPECT_EQ(Shape{}.num_elements(), 1);
  EXPECT_EQ(Shape({3, 0, 5}).num_elements(), 0);
}

TEST(Shape, RefusesOverflowAndNegativeExtents) {
  const std::int64_t huge = std::int64_t{1} << 40;
  EXPECT_THROW(Shape({huge, huge}).num_elements(), Error);
  EXPECT_THROW(Shape({4, -2}), Error);
  EXPECT_THROW(Shape({1, 1, 1, 1, 1, 1, 1}), Error);
}

TEST(ExpectShape, NamesTheTensorAndBothShapes) {
  EXPECT_NO_THROW(expect_shape({1, 75, 256}, {1, kAny, 256}, "audio tokens"));
  try {
    expect_shape({1, 75, 192}, {1, kAny, 256}, "audio tokens");
    FAIL() << "a wrong width was accepted";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kShapeMismatch);
    EXPECT_STREQ(error.what(), "audio tokens: expected [1, *, 256], got [1, 75, 192]");
  }
  EXPECT_THROW(expect_shape({1, 75}, {1, 75, 1}, "rank"), Error);
}

TEST(Tensor, IsZeroedAlignedAndMovable) {
  Tensor<float> a(Shape{3, 5});
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(a.data()) % Tensor<float>::kAlignment, 0u);
  for (const float x : a.elements()) EXPECT_EQ(x, 0.0f);
  a.view()(2, 4) = 7.0f;
  Tensor<float> b = a.clone();
  Tensor<float> c = std::move(a);
  EXPECT_EQ(c.view()(2, 4), 7.0f);
  EXPECT_EQ(b.view()(2, 4), 7.0f);
  EXPECT_TRUE(a.empty());  // NOLINT(bugprone-use-after-move): the moved-from state is specified
  EXPECT_EQ(a.num_elements(), 0);
}

TEST(TensorPool, TheNextTensorTakesTheMemoryGivenBack) {
  TensorPool<std::uint8_t> pool;
  Tensor<std::uint8_t> first = pool.take({4, 100});
  const std::uint8_t* const memory = first.data();
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(memory) % Tensor<float>::kAlignment, 0u);
  const Tensor<std::uint8_t> second = pool.take({4, 100});
  EXPECT_NE(second.data(), memory);
  Tensor<std::uint8_t> moved = std::move(first);
  const Tensor<std::uint8_t> third = pool.take({4, 100});
  EXPECT_NE(third.data(), memory) << "a moved tensor still holds its memory";
  moved = Tensor<std::uint8_t>();
  const Tensor<std::uint8_t> fourth = pool.take({100, 4});
  EXPECT_EQ(fourth.data(), memory);
  EXPECT_EQ(fourth.shape(), Shape({100, 4}));
  EXPECT_TRUE(pool.take({0, 3}).empty());
}

TEST(TensorPool, TensorsOfAnotherSizeAndOfNoPoolAnyMoreKeepTheirMemory) {
  std::optional<TensorPool<float>> pool(std::in_place);
  Tensor<float> small = pool->take({8});
  Tensor<float> large = pool->take({800'000});
  std::fill_n(small.data(), 8, 1.0f);
  std::fill_n(large.data(), 800'000, 2.0f);
  pool.reset();
  EXPECT_EQ(std::accumulate(small.elements().begin(), small.elements().end(), 0.0f), 8.0f);
  EXPECT_EQ(large.data()[799'999], 2.0f);
}

TEST(TensorPool, NoMemoryIsInUseTwiceWhenOtherThreadsGiveBack) {
  // More at a time than the pool keeps; each tensor is written where it is taken and read where it
  // is given back.
  TensorPool<int> pool;
  for (int round = 0; round < 50; ++round) {
    std::vector<Tensor<int>> taken;
    std::set<const int*> memory;
    for (int i = 0; i < static_cast<int>(FreeBlocks::kCapacity) + 4; ++i) {
      taken.push_back(pool.take({16}));
      std::fill_n(taken.back().data(), 16, i);
      EXPECT_TRUE(memory.insert(taken.back().data()).second);
    }
    std::vector<std::thread> threads;
    for (std::size_t begin : {0u, 10u}) {
      threads.emplace_back([&taken, begin] {
        for (std::size_t i = begin; i < begin + 10; ++i) {
          EXPECT_EQ(taken[i].data()[15], static_cast<int>(i));
          taken[i] = Tensor<int>();
        }
      });
    }
    Tensor<int> meanwhile = pool.take({16});
    std::fill_n(meanwhile.data(), 16, -1);
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(std::count(meanwhile.data(), meanwhile.data() + 16, -1), 16);
  }
}

TEST(TensorView, SlicesAndStridesAddressTheRightElement) {
  Tensor<float> a(Shape{4, 6});
  std::iota(a.elements().begin(), a.elements().end(), 0.0f);
  const TensorView<const float> rows = a.view().slice(1, 3);
  EXPECT_EQ(rows.shape(), Shape({2, 6}));
  EXPECT_EQ(rows(1, 2), 14.0f);
  const TensorView<const float> columns(a.data(), {6, 4}, {1, 6});
  EXPECT_EQ(columns(2, 3), 20.0f);
  EXPECT_FALSE(columns.is_dense());
}

TEST(MediaTime, PointsAndLengthsKeepTheirMeaning) {
  const MediaTime start = MediaTime::from_seconds(-3.02);
  const MediaTime later = start + MediaDuration::from_ms(40);
  EXPECT_EQ(later.us, -2980000);
  EXPECT_EQ((later - start).us, 40000);
  EXPECT_LT(start, later);
}

void pass_time() { std::this_thread::sleep_for(std::chrono::milliseconds(3)); }

TEST(StageClock, TimeBelongsToTheInnermostStage) {
  const auto begun = std::chrono::steady_clock::now();
  StageTimes times;
  {
    const StageClock clock(times);
    pass_time();
    {
      const StageScope decode(Stage::kDecode);
      pass_time();
      {
        const StageScope detect(Stage::kDetect);
        for (int i = 0; i < 3; ++i) pass_time();
      }
      pass_time();
    }
    std::thread([] {
      const StageScope other_thread(Stage::kMel);
      pass_time();
    }).join();
  }
  const std::chrono::duration<double> passed = std::chrono::steady_clock::now() - begun;
  EXPECT_GE(times[Stage::kRest], 0.006);
  EXPECT_GE(times[Stage::kDecode], 0.006);
  EXPECT_GE(times[Stage::kDetect], 0.009);
  EXPECT_EQ(times[Stage::kMel], 0);
  EXPECT_LE(times.total(), passed.count());
}

TEST(StageClock, AnInnerClockTakesOver) {
  StageTimes outer, inner;
  const StageClock clock(outer);
  {
    const StageClock other(inner);
    const StageScope stage(Stage::kCrop);
    pass_time();
  }
  EXPECT_GE(inner[Stage::kCrop], 0.003);
  {
    const StageScope stage(Stage::kLoad);
    pass_time();
  }
  EXPECT_EQ(outer[Stage::kCrop], 0);
  EXPECT_GE(outer[Stage::kLoad], 0.003);
}

TEST(StageTimes, EveryStageHasItsName) {
  std::vector<std::string_view> names;
  for (std::size_t i = 0; i < kNumStages; ++i) names.push_back(to_string(static_cast<Stage>(i)));
  std::sort(names.begin(), names.end());
  EXPECT_EQ(std::unique(names.begin(), names.end()), names.end());
}

TEST(Timeline, NearestIsTheInverseOfAt) {
  const Timeline timeline{MediaTime{-70000}, MediaDuration{40000}};
  for (std::int64_t i = -5; i <= 5; ++i) {
    EXPECT_EQ(timeline.nearest(timeline.at(i)), i);
    EXPECT_EQ(timeline.nearest(timeline.at(i) + MediaDuration{19999}), i);
    EXPECT_EQ(timeline.nearest(timeline.at(i) - MediaDuration{20000}), i);
    EXPECT_EQ(timeline.nearest(timeline.at(i) - MediaDuration{20001}), i - 1);
  }
}

}  // namespace
}  // namespace av_fusion
