// Copyright 2026 The av_fusion authors. SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <vector>

#include "av_fusion/chunk_plan_internal.h"
#include "av_fusion/row_queue_internal.h"

namespace av_fusion {
namespace {

TEST(RowQueue, KeepsNumbersWhileRowsComeAndGo) {
  RowQueue<int> queue({2});
  for (int i = 0; i < 1000; ++i) {
    const int row[] = {i, -i};
    queue.push(row, 1);
    queue.drop_before(i - 6);
    const std::int64_t begin = std::max(0, i - 6);
    ASSERT_EQ(queue.begin(), begin);
    ASSERT_EQ(queue.end(), i + 1);
    const auto rows = queue.rows(begin, i + 1);
    ASSERT_EQ(rows.shape(), (Shape{i + 1 - begin, 2}));
    ASSERT_EQ(rows(0, 0), begin);
    ASSERT_EQ(rows(i - begin, 1), -i);
  }
}

TEST(RowQueue, DroppingIsLimitedToWhatIsThere) {
  RowQueue<int> queue({1});
  const int rows[] = {10, 11, 12};
  queue.push(rows, 3);
  queue.drop_before(-5);
  EXPECT_EQ(queue.begin(), 0);
  queue.drop_before(2);
  queue.drop_before(1);
  EXPECT_EQ(queue.begin(), 2);
  EXPECT_EQ(queue.rows(2, 3)(0, 0), 12);
  queue.drop_before(99);
  EXPECT_EQ(queue.begin(), 3);
  queue.push(rows, 1);
  EXPECT_EQ(queue.rows(3, 4)(0, 0), 10);
  queue.restart_at(50);
  queue.push(rows + 1, 1);
  EXPECT_EQ(queue.begin(), 50);
  EXPECT_EQ(queue.rows(50, 51)(0, 0), 11);
}

TEST(ChunkPlan, WaitsForTheFutureAndKnowsTheEnds) {
  const ChunkPlan plan{.chunk = 10, .past = 3, .future = 2};
  EXPECT_FALSE(plan.next(0, 11, false));
  const auto first = plan.next(0, 12, false);
  ASSERT_TRUE(first);
  EXPECT_EQ(first->context_from, 0);
  EXPECT_EQ(first->context_to, 12);
  const auto second = plan.next(10, 100, false);
  ASSERT_TRUE(second);
  EXPECT_EQ(second->from, 10);
  EXPECT_EQ(second->to, 20);
  EXPECT_EQ(second->context_from, 7);
  EXPECT_EQ(second->context_to, 22);
  const auto last = plan.next(20, 21, true);
  ASSERT_TRUE(last);
  EXPECT_EQ(last->to, 21);
  EXPECT_EQ(last->context_to, 21);
  EXPECT_FALSE(plan.next(21, 21, true));
}

}  // namespace
}  // namespace av_fusion
