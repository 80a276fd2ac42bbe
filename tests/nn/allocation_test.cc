// Copyright 2026 The av_fusion authors. SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <link.h>

#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <new>
#include <string>
#include <utility>

#include "av_fusion/nn/conv1d.h"
#include "av_fusion/nn/conv2d.h"
#include "av_fusion/nn/conv_block.h"
#include "av_fusion/nn/conv_transformer_encoder.h"
#include "av_fusion/nn/cross_attention_fusion.h"
#include "av_fusion/nn/feed_forward.h"
#include "av_fusion/nn/layer_norm.h"
#include "av_fusion/nn/linear.h"
#include "av_fusion/nn/multi_head_attention.h"
#include "tests/nn/attention_ways.h"
#include "tests/nn/block_reference.h"
#include "tests/nn/reference.h"

// Counts calls of operator new in the whole program, apart from those that oneDNN's own code makes:
// it builds a small argument table for every primitive it runs, which a caller cannot prevent.
namespace {

std::atomic<bool> armed{false};
std::atomic<int> ours{0};
std::atomic<int> of_onednn{0};

struct AddressRange {
  std::uintptr_t begin = 0;
  std::uintptr_t end = 0;
};
AddressRange onednn;

int find_onednn(dl_phdr_info* info, std::size_t /*size*/, void* /*data*/) {
  if (std::strstr(info->dlpi_name, "libdnnl") == nullptr) return 0;
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    if (info->dlpi_phdr[i].p_type != PT_LOAD) continue;
    const std::uintptr_t begin = info->dlpi_addr + info->dlpi_phdr[i].p_vaddr;
    const std::uintptr_t end = begin + info->dlpi_phdr[i].p_memsz;
    if (onednn.begin == 0 || begin < onednn.begin) onednn.begin = begin;
    if (end > onednn.end) onednn.end = end;
  }
  return 1;
}

void count(const void* caller) {
  if (!armed) return;
  const auto address = reinterpret_cast<std::uintptr_t>(caller);
  const bool is_onednn = address >= onednn.begin && address < onednn.end;
  ++(is_onednn ? of_onednn : ours);
}

void* allocate(std::size_t size, std::size_t alignment) {
  const std::size_t rounded = (size + alignment - 1) / alignment * alignment;
  void* memory = std::aligned_alloc(alignment, rounded == 0 ? alignment : rounded);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}

// Not inlined: g++ would take free() for a mistake after operator new.
[[gnu::noinline]] void release(void* memory) { std::free(memory); }

constexpr std::size_t kDefault = __STDCPP_DEFAULT_NEW_ALIGNMENT__;

}  // namespace

#define AV_FUSION_COUNT() count(__builtin_return_address(0))
void* operator new(std::size_t size) {
  AV_FUSION_COUNT();
  return allocate(size, kDefault);
}
void* operator new[](std::size_t size) {
  AV_FUSION_COUNT();
  return allocate(size, kDefault);
}
void* operator new(std::size_t size, std::align_val_t alignment) {
  AV_FUSION_COUNT();
  return allocate(size, static_cast<std::size_t>(alignment));
}
void* operator new[](std::size_t size, std::align_val_t alignment) {
  AV_FUSION_COUNT();
  return allocate(size, static_cast<std::size_t>(alignment));
}
void* operator new(std::size_t size, const std::nothrow_t& /*tag*/) noexcept {
  AV_FUSION_COUNT();
  return std::malloc(size == 0 ? 1 : size);
}
void* operator new[](std::size_t size, const std::nothrow_t& /*tag*/) noexcept {
  AV_FUSION_COUNT();
  return std::malloc(size == 0 ? 1 : size);
}
void operator delete(void* memory) noexcept { release(memory); }
void operator delete[](void* memory) noexcept { release(memory); }
void operator delete(void* memory, std::size_t /*size*/) noexcept { release(memory); }
void operator delete[](void* memory, std::size_t /*size*/) noexcept { release(memory); }
void operator delete(void* memory, std::align_val_t /*alignment*/) noexcept { release(memory); }
void operator delete[](void* memory, std::align_val_t /*alignment*/) noexcept { release(memory); }
void operator delete(void* memory, std::size_t /*size*/, std::align_val_t /*alignment*/) noexcept {
  release(memory);
}
void operator delete[](void* memory, std::size_t /*size*/,
                       std::align_val_t /*alignment*/) noexcept {
  release(memory);
}

namespace av_fusion {
namespace {

class Allocations : public testing::Test {
 protected:
  void SetUp() override {
    dl_iterate_phdr(find_onednn, nullptr);
    if (onednn.begin == 0) GTEST_SKIP() << "oneDNN is not a shared library here";
  }

  // Runs `call` twice and counts the second time.
  template <typename Call>
  static int count_second(const Call& call) {
    call();
    ours = 0;
    of_onednn = 0;
    armed = true;
    call();
    armed = false;
    return ours;
  }

  ExecContext context_;
};

TEST_F(Allocations, TheCounterCounts) {
  EXPECT_EQ(count_second([] { ::operator delete(::operator new(7)); }), 1);
  EXPECT_EQ(count_second([] { Tensor<float> tensor(Shape{3}); }), 1);
}

TEST_F(Allocations, LayersMakeNoneAfterTheFirstCall) {
  const Linear linear({reference::random_weight(32, 16, 1), {}});
  const LayerNorm norm({reference::random({16}, 1), reference::random({16}, 2)});
  const Conv1d conv1d({.weight = reference::random({8, 16, 3}, 1), .bias = {}, .padding = 1});
  const Conv2d conv2d({.weight = reference::random({8, 16, 3, 3}, 1), .bias = {}, .padding = 1});
  const Tensor<float> in = reference::random({10, 16}, 1);
  Tensor<float> wide(Shape{10, 32});
  Tensor<float> same(Shape{10, 16});
  Tensor<float> narrow(Shape{10, 8});
  EXPECT_EQ(0, count_second([&] { linear.forward(context_, in.view(), wide.view()); }));
  EXPECT_GT(of_onednn, 0) << "oneDNN was not told apart";
  EXPECT_EQ(0, count_second([&] { linear.forward(context_, in.view(), wide.view(), true); }));
  EXPECT_EQ(0, count_second([&] { norm.forward(context_, in.view(), same.view()); }));
  EXPECT_EQ(0, count_second([&] {
              conv1d.forward(context_, {in.data(), {2, 5, 16}}, {narrow.data(), {2, 5, 8}});
            }));
  EXPECT_EQ(0, count_second([&] {
              conv2d.forward(context_, {in.data(), {1, 2, 5, 16}}, {narrow.data(), {1, 2, 5, 8}});
            }));
}

TEST_F(Allocations, AttentionMakesNoneAfterTheFirstCall) {
  const auto weight = [](std::int64_t rows, unsigned seed) {
    return reference::random_weight(rows, 32, seed);
  };
  const MultiHeadAttention layer(
      MultiHeadAttention::FusedParams{4, weight(96, 1), {}, weight(32, 2), {}});
  const Tensor<float> video = reference::random({2, 70, 32}, 1);
  const Tensor<float> audio = reference::random({2, 300, 32}, 2);
  Tensor<float> out(Shape{2, 70, 32});
  Tensor<float> weights(Shape{2, 4, 70, 300});
  Tensor<float> lags(Shape{2, 4, 70, 41});
  const std::int64_t lengths[] = {300, 123};
  const BandMask band{4, 0, 20};
  EXPECT_EQ(0, count_second([&] { layer.forward(context_, video.view(), out.view()); }));
  EXPECT_EQ(0, count_second([&] {
              layer.forward(context_, video.view(), audio.view(), audio.view(), out.view(),
                            {lengths, {}}, {.weights = weights.view()});
            }));
  EXPECT_EQ(
      0, count_second([&] {
        layer.forward(
            context_, video.view(), audio.view(), audio.view(), out.view(), {lengths, band},
            {.weights = weights.view(), .band_weights = lags.view(), .band_logits = lags.view()});
      }));
}

class AttentionAllocations : public Allocations,
                             public testing::WithParamInterface<AttentionWay> {};

TEST_P(AttentionAllocations, AreNoneAfterTheFirstCall) {
  const AttentionCase attention(GetParam());
  AttentionCase::Output output = attention.output();
  EXPECT_EQ(0, count_second([&] { attention.run(context_, output); }));
}

// Which thread gets which block is not known beforehand, so one may meet a shape for the first time
// in a later call: it then makes a plan or more scratch memory. A call without has to do without
// allocations.
TEST_P(AttentionAllocations, AreNoneWithTwoThreadsThatKnowTheShapes) {
  const AttentionCase attention(GetParam());
  AttentionCase::Output output = attention.output();
  ExecContext context({.num_threads = 2});
  const auto held = [&] { return std::pair(context.num_plans(), context.scratch_bytes()); };
  for (int round = 0; round < 100; ++round) {
    const auto before = held();
    const int allocations = count_second([&] { attention.run(context, output); });
    if (held() != before) continue;
    EXPECT_EQ(allocations, 0);
    return;
  }
  ADD_FAILURE() << "plans or scratch memory grow without end";
}

INSTANTIATE_TEST_SUITE_P(Ways, AttentionAllocations, testing::ValuesIn(attention_ways()),
                         [](const auto& test) { return std::string(test.param.name); });

TEST_F(Allocations, BlocksMakeNoneAfterTheFirstCall) {
  const FeedForward feed_forward(reference::feed_forward_params(16, 40, 1));
  const ConvBlock conv_block(reference::conv_block_params(16, {16, 5, 2}, 1));
  ConvTransformerEncoder::Params params{.attention_norm = reference::norm_params(16, 1),
                                        .attention = reference::attention_params(16, 16, 4, 2),
                                        .attention_width = 6,
                                        .feed_forward = reference::feed_forward_params(16, 40, 3)};
  params.conv_blocks.push_back(reference::conv_block_params(16, {16, 5, 1}, 4));
  const ConvTransformerEncoder encoder(std::move(params));
  Tensor<float> x = reference::random({2, 70, 16}, 1);
  const std::int64_t lengths[] = {70, 33};
  EXPECT_EQ(0, count_second([&] { feed_forward.forward(context_, {x.data(), {140, 16}}); }));
  EXPECT_EQ(0, count_second([&] { conv_block.forward(context_, x.view(), lengths); }));
  EXPECT_EQ(0, count_second([&] { encoder.forward(context_, x.view(), lengths); }));
}

TEST_F(Allocations, FusionMakesNoneAfterTheFirstCall) {
  CrossAttentionFusion::Params params;
  for (unsigned seed : {1u, 2u, 3u}) {
    params.layers.push_back({.query_norm = reference::norm_params(16, seed),
                             .key_norm = reference::norm_params(12, seed),
                             .attention = reference::attention_params(16, 12, 4, seed),
                             .feed_forward = reference::feed_forward_params(16, 40, seed)});
  }
  const CrossAttentionFusion fusion(std::move(params));
  const Tensor<float> video = reference::random({2, 25, 16}, 1);
  const Tensor<float> audio = reference::random({2, 100, 12}, 2);
  Tensor<float> fused(video.shape());
  Tensor<float> weights(Shape{2, 4, 25, 100});
  const std::int64_t lengths[] = {100, 61};
  MultiHeadAttention::Masks masks;
  masks.key_lengths = lengths;
  masks.band = BandMask{4, 0, 20};
  const MultiHeadAttention::Details details[] = {{.weights = weights.view()}, {}, {}};
  EXPECT_EQ(
      0, count_second([&] { fusion.forward(context_, video.view(), audio.view(), fused.view()); }));
  EXPECT_EQ(0, count_second([&] {
              fusion.forward(context_, video.view(), audio.view(), fused.view(), masks, details);
            }));
}

}  // namespace
}  // namespace av_fusion
