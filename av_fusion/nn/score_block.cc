// Copyright 2026 The av_fusion authors. SPDX-License-Identifier: Apache-2.0
#include "av_fusion/nn/dnnl/cpu_isa.h"
#include "av_fusion/nn/score_block_internal.h"

#if defined(__x86_64__) && defined(__GNUC__)
#define AV_FUSION_HAS_X86_KERNELS 1
#include <immintrin.h>
#ifndef __clang__
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"  // GCC bug 105593, in its own header
#endif
#endif

// Compiled for the processors that matter within one file; which of them runs is decided by what
// oneDNN found (and so obeys ONEDNN_MAX_CPU_ISA).
namespace av_fusion::internal {
namespace {

// Growth of the largest score that the reference point does not follow.
constexpr float kSlack = 10.0f;

// Floats is a vector of kLanes numbers. `load_some` reads the first `count` < kLanes numbers and
// takes the others from `filler`; `store_some` writes so many. `stream` writes to an aligned place,
// past the caches where that exists.
namespace baseline {
constexpr int kLanes = 4;
typedef float Floats __attribute__((vector_size(kLanes * sizeof(float))));
inline Floats load_some(const float* from, std::int64_t count, Floats filler) {
  for (std::int64_t i = 0; i < count; ++i) filler[i] = from[i];
  return filler;
}
inline void store_some(Floats value, std::int64_t count, float* to) {
  for (std::int64_t i = 0; i < count; ++i) to[i] = value[i];
}
inline void stream(Floats value, float* to) { __builtin_memcpy(to, &value, sizeof value); }
inline float larger_of(float a, float b) { return a > b ? a : b; }
inline float largest_lane(Floats value) {
  return larger_of(larger_of(value[0], value[1]), larger_of(value[2], value[3]));
}
inline float sum_of_lanes(Floats value) { return (value[0] + value[2]) + (value[1] + value[3]); }
#include "av_fusion/nn/score_block_kernel.inc"
}  // namespace baseline

#ifdef AV_FUSION_HAS_X86_KERNELS
#ifdef __clang__
#pragma clang attribute push(__attribute__((target("avx2,fma"))), apply_to = function)
#else
#pragma GCC push_options
#pragma GCC target("avx2,fma")
#endif
namespace avx2 {
constexpr int kLanes = 8;
typedef float Floats __attribute__((vector_size(kLanes * sizeof(float))));
inline __m256i first_lanes(std::int64_t count) {
  return _mm256_cmpgt_epi32(_mm256_set1_epi32(static_cast<int>(count)),
                            _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7));
}
inline Floats load_some(const float* from, std::int64_t count, Floats filler) {
  const __m256i lanes = first_lanes(count);
  return _mm256_blendv_ps(filler, _mm256_maskload_ps(from, lanes), _mm256_castsi256_ps(lanes));
}
inline void store_some(Floats value, std::int64_t count, float* to) {
  _mm256_maskstore_ps(to, first_lanes(count), value);
}
inline void stream(Floats value, float* to) { _mm256_stream_ps(to, value); }
inline float largest_lane(Floats value) {
  __m128 half = _mm_max_ps(_mm256_castps256_ps128(value), _mm256_extractf128_ps(value, 1));
  half = _mm_max_ps(half, _mm_movehl_ps(half, half));
  return _mm_cvtss_f32(_mm_max_ss(half, _mm_movehdup_ps(half)));
}
inline float sum_of_lanes(Floats value) {
  __m128 half = _mm_add_ps(_mm256_castps256_ps128(value), _mm256_extractf128_ps(value, 1));
  half = _mm_add_ps(half, _mm_movehl_ps(half, half));
  return _mm_cvtss_f32(_mm_add_ss(half, _mm_movehdup_ps(half)));
}
#include "av_fusion/nn/score_block_kernel.inc"
}  // namespace avx2
#ifdef __clang__
#pragma clang attribute pop
#else
#pragma GCC pop_options
#endif

#ifdef __clang__
#pragma clang attribute push( \
    __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl,avx2,fma"))), apply_to = function)
#else
#pragma GCC push_options
#pragma GCC target("avx512f,avx512bw,avx512dq,avx512vl,avx2,fma,prefer-vector-width=512")
#endif
namespace avx512 {
constexpr int kLanes = 16;
typedef float Floats __attribute__((vector_size(kLanes * sizeof(float))));
inline __mmask16 first_lanes(std::int64_t count) {
  return static_cast<__mmask16>((1u << count) - 1u);
}
inline Floats load_some(const float* from, std::int64_t count, Floats filler) {
  return _mm512_mask_loadu_ps(filler, first_lanes(count), from);
}
inline void store_some(Floats value, std::int64_t count, float* to) {
  _mm512_mask_storeu_ps(to, first_lanes(count), value);
}
inline void stream(Floats value, float* to) { _mm512_stream_ps(to, value); }
inline float largest_lane(Floats value) { return _mm512_reduce_max_ps(value); }
inline float sum_of_lanes(Floats value) { return _mm512_reduce_add_ps(value); }
#include "av_fusion/nn/score_block_kernel.inc"
}  // namespace avx512
#ifdef __clang__
#pragma clang attribute pop
#else
#pragma GCC pop_options
#endif
#endif

struct Kernels {
  void (*accumulate_softmax)(const ScoreBlock&) = baseline::accumulate_softmax;
  void (*copy_scaled)(const float*, std::int64_t, float, bool, float*) = baseline::copy_scaled;
  void (*round_to_bf16)(const float*, std::int64_t, std::uint16_t*) = baseline::round_to_bf16;

  Kernels() {
#ifdef AV_FUSION_HAS_X86_KERNELS
    if (has_avx512()) {
      accumulate_softmax = avx512::accumulate_softmax;
      copy_scaled = avx512::copy_scaled;
      round_to_bf16 = avx512::round_to_bf16;
    } else if (has_avx2()) {
      accumulate_softmax = avx2::accumulate_softmax;
      copy_scaled = avx2::copy_scaled;
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

void copy_scaled(const float* from, std::int64_t count, float factor, bool past_cache, float* to) {
  kernels().copy_scaled(from, count, factor, past_cache, to);
}

void finish_writes_past_cache() {
#ifdef AV_FUSION_HAS_X86_KERNELS
  _mm_sfence();
#endif
}

void round_to_bf16(const float* from, std::int64_t count, std::uint16_t* to) {
  kernels().round_to_bf16(from, count, to);
}

}  // namespace av_fusion::internal
