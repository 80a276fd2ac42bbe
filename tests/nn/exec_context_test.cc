// Copyright 2026 The av_fusion authors. SPDX-License-Identifier: Apache-2.0
#include "av_fusion/nn/exec_context.h"

#include <dlfcn.h>
#include <gtest/gtest.h>

#include "av_fusion/core/error.h"
#include "av_fusion/nn/conv1d.h"
#include "av_fusion/nn/linear.h"
#include "tests/nn/reference.h"

namespace av_fusion {
namespace {

TEST(ExecContext, RefusesOptionsOutOfRange) {
  EXPECT_THROW(ExecContext({.num_threads = -1}), Error);
  EXPECT_THROW(ExecContext({.num_threads = 1, .max_plans = 0}), Error);
}

TEST(ExecContext, StaysRightWhilePlansAreDropped) {
  ExecContext small({.num_threads = 1, .max_plans = 2});
  const Tensor<float> first_weight = reference::random_weight(5, 9, 1);
  const Tensor<float> second_weight = reference::random_weight(7, 9, 2);
  const Linear first({first_weight.clone(), {}});
  const Linear second({second_weight.clone(), {}});
  for (int round = 0; round < 3; ++round) {
    for (const std::int64_t rows : {1, 4, 3, 4, 8}) {
      const Tensor<float> in = reference::random({rows, 9}, static_cast<unsigned>(rows));
      Tensor<float> first_out(Shape{rows, 5});
      Tensor<float> second_out(Shape{rows, 7});
      first.forward(small, in.view(), first_out.view());
      second.forward(small, in.view(), second_out.view());
      const std::vector<double> x = reference::to_doubles(in);
      reference::expect_close(first_out, reference::linear(x, first_weight, {}), 1e-5, "first");
      reference::expect_close(second_out, reference::linear(x, second_weight, {}), 1e-5, "second");
      EXPECT_LE(small.num_plans(), 2u);
    }
  }
}

TEST(ExecContext, DropsTheLeastRecentlyUsedPlan) {
  ExecContext context({.num_threads = 1, .max_plans = 2});
  const Linear layer({reference::random_weight(5, 9, 1), {}});
  const auto run = [&](std::int64_t rows) {
    Tensor<float> in(Shape{rows, 9});
    Tensor<float> out(Shape{rows, 5});
    layer.forward(context, in.view(), out.view());
  };
  run(1);
  EXPECT_EQ(context.num_plans(), 1u);
  run(1);
  EXPECT_EQ(context.num_plans(), 1u);
  run(2);
  run(3);
  EXPECT_EQ(context.num_plans(), 2u);
}

TEST(ExecContext, OutlivesItsLayers) {
  ExecContext context;
  const Tensor<float> in = reference::random({3, 9}, 3);
  Tensor<float> out(Shape{3, 5});
  for (unsigned seed = 1; seed < 5; ++seed) {
    const Tensor<float> weight = reference::random_weight(5, 9, seed);
    const Linear layer({weight.clone(), {}});
    layer.forward(context, in.view(), out.view());
    reference::expect_close(out, reference::linear(reference::to_doubles(in), weight, {}), 1e-5,
                            "out");
  }
}

TEST(ExecContext, MovesWithItsPlans) {
  ExecContext first;
  const Linear layer({reference::random_weight(5, 9, 1), {}});
  Tensor<float> in(Shape{3, 9});
  Tensor<float> out(Shape{3, 5});
  layer.forward(first, in.view(), out.view());
  ExecContext second = std::move(first);
  layer.forward(second, in.view(), out.view());
  EXPECT_EQ(second.num_plans(), 1u);
}

TEST(ExecContext, LeavesTheCallersThreadCountAlone) {
  const auto max_threads =
      reinterpret_cast<int (*)()>(::dlsym(RTLD_DEFAULT, "omp_get_max_threads"));
  const auto set_threads =
      reinterpret_cast<void (*)(int)>(::dlsym(RTLD_DEFAULT, "omp_set_num_threads"));
  if (max_threads == nullptr || set_threads == nullptr) GTEST_SKIP() << "oneDNN without OpenMP";
  const int before = max_threads();
  set_threads(3);
  ExecContext context({.num_threads = 2});
  const Conv1d layer({.weight = reference::random({4, 2, 3}, 1), .bias = {}});
  Tensor<float> in(Shape{1, 9, 2});
  Tensor<float> out(Shape{1, 7, 4});
  layer.forward(context, in.view(), out.view());
  EXPECT_EQ(max_threads(), 3);
  set_threads(before);
}

}  // namespace
}  // namespace av_fusion
