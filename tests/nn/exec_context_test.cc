// Copyright 2026 The av_fusion authors. SPDX-License-Identifier: Apache-2.0
#include "av_fusion/nn/exec_context.h"

#include <dlfcn.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <stdexcept>
#include <utility>

#include "av_fusion/core/error.h"
#include "av_fusion/nn/conv1d.h"
#include "av_fusion/nn/dnnl/exec_context_impl.h"
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

using Frame = ExecContext::Impl::Frame;

bool holds(const float* memory, std::int64_t count, float value) {
  return std::all_of(memory, memory + count, [=](float x) { return x == value; });
}

TEST(Frames, PartsAreAlignedAndApart) {
  ExecContext context;
  Frame frame(context.impl(), Frame::rounded(5) + Frame::rounded(16) + Frame::rounded(33));
  float* const first = frame.take(5);
  float* const second = frame.take(16);
  float* const third = frame.take(33);
  for (const float* part : {first, second, third}) {
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(part) % 64, 0u);
  }
  std::fill_n(first, 5, 1.0f);
  std::fill_n(second, 16, 2.0f);
  std::fill_n(third, 33, 3.0f);
  EXPECT_TRUE(holds(first, 5, 1.0f) && holds(second, 16, 2.0f) && holds(third, 33, 3.0f));
}

TEST(Frames, NestWithoutTouchingEachOther) {
  ExecContext context;
  Frame outer(context.impl(), 64);
  float* const kept = outer.take(64);
  std::fill_n(kept, 64, 1.0f);
  // Deeper and larger than anything before: the outer ones must stay where they are.
  for (std::int64_t size = 1000; size <= 1000000; size *= 10) {
    Frame middle(context.impl(), size);
    float* const next = middle.take(size);
    std::fill_n(next, size, 2.0f);
    {
      Frame inner(context.impl(), 2 * size);
      std::fill_n(inner.take(2 * size), 2 * size, 3.0f);
    }
    EXPECT_TRUE(holds(next, size, 2.0f));
  }
  EXPECT_TRUE(holds(kept, 64, 1.0f));
}

TEST(Frames, ALayerRunsWhileAFrameIsOpen) {
  ExecContext context;
  Frame outer(context.impl(), 100);
  float* const kept = outer.take(100);
  std::fill_n(kept, 100, 7.0f);
  const Tensor<float> weight = reference::random_weight(5, 9, 1);
  const Linear layer({weight.clone(), {}});
  const Tensor<float> in = reference::random({40, 9}, 3);
  Tensor<float> out(Shape{40, 5});
  layer.forward(context, in.view(), out.view());
  reference::expect_close(out, reference::linear(reference::to_doubles(in), weight, {}), 1e-5, "");
  EXPECT_TRUE(holds(kept, 100, 7.0f));
}

TEST(Frames, MemoryIsUsedAgainAlsoAfterAnException) {
  ExecContext context;
  const auto open = [&](bool fail) {
    Frame outer(context.impl(), 5000);
    Frame inner(context.impl(), 3000);
    if (fail) throw std::runtime_error("within");
    return std::pair(outer.take(5000), inner.take(3000));
  };
  const auto first = open(false);
  const std::size_t bytes = context.scratch_bytes();
  EXPECT_GE(bytes, 8000 * sizeof(float));
  EXPECT_THROW(open(true), std::runtime_error);
  EXPECT_EQ(open(false), first);
  EXPECT_EQ(context.scratch_bytes(), bytes);
}

TEST(Frames, AFrameMayBeEmpty) {
  ExecContext context;
  Frame frame(context.impl(), 0);
  frame.take(0);
  EXPECT_EQ(context.scratch_bytes(), 0u);
}

TEST(ForEach, GivesEachThreadItsOwnContext) {
  ExecContext context({.num_threads = 3});
  std::atomic<int> intact{0};
  context.impl().for_each(60, [&](ExecContext::Impl& worker, std::int64_t index) {
    Frame frame(worker, 4000);
    float* const memory = frame.take(4000);
    const auto value = static_cast<float>(index);
    std::fill_n(memory, 4000, value);
    intact += holds(memory, 4000, value) ? 1 : 0;
  });
  EXPECT_EQ(intact, 60);
}

TEST(ForEach, StaysUsableAfterAnException) {
  ExecContext context({.num_threads = 2});
  const auto run = [&](std::int64_t bad) {
    std::atomic<int> done{0};
    context.impl().for_each(20, [&](ExecContext::Impl& worker, std::int64_t index) {
      const Frame frame(worker, 100);
      if (index == bad) throw std::runtime_error("bad");
      ++done;
    });
    return done.load();
  };
  run(-1);
  EXPECT_THROW(run(7), std::runtime_error);
  EXPECT_EQ(run(-1), 20);
}

}  // namespace
}  // namespace av_fusion
