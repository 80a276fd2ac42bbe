// Copyright 2026 The av_fusion authors. SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <atomic>
#include <cmath>
#include <stdexcept>
#include <thread>

#include "av_fusion/nn/dnnl/parallel.h"
#include "tests/nn/attention_ways.h"

namespace av_fusion {
namespace {

class AttentionThreads : public testing::TestWithParam<AttentionWay> {
 protected:
  const AttentionCase case_{GetParam()};
};

TEST_P(AttentionThreads, FourThreadsShareALayerAndAgreeBitByBit) {
  ExecContext context;
  const std::vector<float> expected = case_.run(context);
  std::vector<int> agreed(4, 0);
  std::vector<std::thread> threads;
  for (std::size_t t = 0; t < agreed.size(); ++t) {
    threads.emplace_back([&, t] {
      ExecContext own;
      for (int round = 0; round < 5; ++round) agreed[t] += case_.run(own) == expected ? 1 : 0;
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(agreed, std::vector<int>(4, 5));
}

TEST_P(AttentionThreads, AContextMayMoveBetweenThreads) {
  ExecContext context;
  const std::vector<float> expected = case_.run(context);
  std::vector<float> elsewhere;
  std::thread([&] { elsewhere = case_.run(context); }).join();
  EXPECT_EQ(elsewhere, expected);
}

TEST_P(AttentionThreads, DroppedPlansAreMadeAgain) {
  ExecContext roomy;
  ExecContext tight({.num_threads = 1, .max_plans = 1});
  const std::vector<float> expected = case_.run(roomy);
  for (int round = 0; round < 3; ++round) EXPECT_EQ(case_.run(tight), expected);
  EXPECT_EQ(tight.num_plans(), 1u);
}

INSTANTIATE_TEST_SUITE_P(Ways, AttentionThreads, testing::ValuesIn(attention_ways()),
                         [](const auto& test) { return std::string(test.param.name); });

// Several threads within one call.
class AttentionThreadsInside : public AttentionThreads {};

TEST_P(AttentionThreadsInside, ChangeOnlyRounding) {
  const float tolerance = GetParam().precision == Precision::kBf16 ? 2e-2f : 1e-5f;
  ExecContext one;
  const std::vector<float> expected = case_.run(one);
  for (const int threads : {2, 3}) {
    ExecContext several({.num_threads = threads});
    const std::vector<float> actual = case_.run(several);
    ASSERT_EQ(actual.size(), expected.size());
    for (std::size_t i = 0; i < expected.size(); ++i) {
      ASSERT_NEAR(actual[i], expected[i], tolerance) << i << " with " << threads << " threads";
    }
  }
}

TEST_P(AttentionThreadsInside, TheSameNumberGivesTheSameBits) {
  for (const int threads : {1, 2, 3}) {
    ExecContext first({.num_threads = threads});
    ExecContext tight({.num_threads = threads, .max_plans = 1});
    const std::vector<float> expected = case_.run(first);
    for (int round = 0; round < 3; ++round) {
      EXPECT_EQ(case_.run(first), expected) << threads << " threads";
      EXPECT_EQ(case_.run(tight), expected) << threads << " threads, plans made again";
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Ways, AttentionThreadsInside, testing::ValuesIn(attention_ways()),
                         [](const auto& test) { return std::string(test.param.name); });

TEST(ParallelFor, VisitsEachIndexOnceAndNumbersItsWorkers) {
  std::vector<std::atomic<int>> visits(1000);
  std::atomic<bool> numbered{true};
  internal::parallel_for(3, 1000, [&](int worker, std::int64_t index) {
    ++visits[static_cast<std::size_t>(index)];
    if (worker < 0 || worker >= 3) numbered = false;
  });
  EXPECT_TRUE(numbered);
  for (const std::atomic<int>& count : visits) EXPECT_EQ(count, 1);
}

TEST(ParallelFor, ThrowsWhatATaskThrowsAfterTheOthers) {
  std::atomic<int> done{0};
  const auto run = [&] {
    internal::parallel_for(3, 100, [&](int, std::int64_t index) {
      if (index % 10 == 4) throw std::runtime_error("four");
      ++done;
    });
  };
  EXPECT_THROW(run(), std::runtime_error);
  EXPECT_LE(done, 90);
  done = 0;
  internal::parallel_for(3, 100, [&](int, std::int64_t) { ++done; });
  EXPECT_EQ(done, 100) << "usable afterwards";
}

}  // namespace
}  // namespace av_fusion
