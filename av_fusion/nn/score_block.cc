// Copyright 2026 The av_fusion authors. SPDX-License-Identifier: Apache-2.0
#include "av_fusion/nn/dnnl/cpu_isa.h"
#include "av_fusion/nn/score_block_internal.h"

// Compiled for the processors that matter within one file; which of them runs is decided by what
// oneDNN found (and so obeys ONEDNN_MAX_CPU_ISA).
namespace av_fusion::internal {
namespace {

// Growth of the largest score that the reference point does not follow.
constexpr float kSlack = 10.0f;

namespace baseline {
constexpr int kLanes = 4;
#include "av_fusion/nn/score_block_kernel.inc"
}  // namespace baseline

#if defined(__x86_64__) && defined(__GNUC__)
#define AV_FUSION_HAS_X86_KERNELS 1

#pragma GCC push_options
#pragma GCC target("avx2,fma")
namespace avx2 {
constexpr int kLanes = 8;
#include "av_fusion/nn/score_block_kernel.inc"
}  // namespace avx2
#pragma GCC pop_options

#pragma GCC push_options
#pragma GCC target("avx512f,avx512bw,avx512dq,avx512vl,avx2,fma,prefer-vector-width=512")
namespace avx512 {
constexpr int kLanes = 16;
#include "av_fusion/nn/score_block_kernel.inc"
}  // namespace avx512
#pragma GCC pop_options
#endif

struct Kernels {
  void (*accumulate_softmax)(const ScoreBlock&) = baseline::accumulate_softmax;
  void (*round_to_bf16)(const float*, std::int64_t, std::uint16_t*) = baseline::round_to_bf16;

  Kernels() {
#ifdef AV_FUSION_HAS_X86_KERNELS
    if (has_avx512()) {
      accumulate_softmax = avx512::accumulate_softmax;
      round_to_bf16 = avx512::round_to_bf16;
    } else if (has_avx2()) {
      accumulate_softmax = avx2::accumulate_softmax;
      round_to_bf16 = avx2::round_to_bf16;
    }
#endif
  }
};

const Kernels& kernels() {
  static const Kernels chosen;
  return chosen;
}

}  // namespace

void accumulate_softmax(const ScoreBlock& block) { kernels().accumulate_softmax(block); }

void round_to_bf16(const float* from, std::int64_t count, std::uint16_t* to) {
  kernels().round_to_bf16(from, count, to);
}

}  // namespace av_fusion::internal
