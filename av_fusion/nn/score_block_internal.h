// Copyright 2026 The av_fusion authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace av_fusion::internal {

/// Keys begin ... end - 1; empty if begin >= end.
struct KeyRange {
  std::int64_t begin = 0;
  std::int64_t end = 0;

  bool empty() const { return begin >= end; }
};

/// Scores q.k of some queries against some consecutive keys, for all heads, on their way to
/// softmax weights. Nothing here is owned.
struct ScoreBlock {
  std::int64_t heads = 0;
  std::int64_t rows = 0;  ///< queries
  std::int64_t keys = 0;
  float* scores = nullptr;  ///< [heads, rows, keys]

  /// [rows] which keys of the block each query sees, within [0, keys]; null if all see all.
  const KeyRange* visible = nullptr;
  /// Added to score (h, i, j): additive[h * head_step + i * row_step + j]; null for none.
  const float* additive = nullptr;
  std::int64_t additive_head_step = 0;
  std::int64_t additive_row_step = 0;

  /// [heads, rows] state of the running softmax: the reference point of the exponents, and the sum
  /// of the exponentials so far. Contents do not matter if `first`.
  float* reference = nullptr;
  float* sum = nullptr;
  bool first = false;

  /// Weighted values summed so far, row (h, i) at out + h * out_head_step + i * out_row_step;
  /// scaled where the reference point moves. Not touched if `first`.
  float* out = nullptr;
  std::int64_t out_head_step = 0;
  std::int64_t out_row_step = 0;
  std::int64_t out_width = 0;

  /// [heads, rows, keys] also receives the result, rounded to bfloat16; or null.
  std::uint16_t* rounded = nullptr;
};

/// One step of the running softmax of Milakov and Gimelshein 2018 ("Online normalizer calculation
/// for softmax"): replaces each score s by exp(s - reference), 0 where a query does not see the
/// key, and adds them to `sum`. What is left to do after the last block is to divide by `sum`.
///
/// The reference is the row's largest score in the first block; later it follows the largest score
/// only when that has grown by more than 10, so that `out` hardly ever has to be scaled: e^10 times
/// the number of keys is far from the limits of f32. e^x is accurate to 3e-7 + 8e-8 |x| of its
/// value, and 0 below e^-87.
void accumulate_softmax(const ScoreBlock& block);

/// to[i] = factor * from[i]. `past_cache` writes to memory without a detour through the caches, for
/// results larger than these; `finish_writes_past_cache` then has to come before other threads are
/// told of the results.
void copy_scaled(const float* from, std::int64_t count, float factor, bool past_cache, float* to);

/// Orders what this thread wrote past the caches before its later writes, which only a fence does.
void finish_writes_past_cache();

/// to[i] = from[i] rounded to the nearest bfloat16, ties to even.
void round_to_bf16(const float* from, std::int64_t count, std::uint16_t* to);

}  // namespace av_fusion::internal
