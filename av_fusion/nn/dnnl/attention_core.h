// Copyright 2026 The av_fusion authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "av_fusion/nn/band_mask.h"
#include "av_fusion/nn/causal_mask.h"
#include "av_fusion/nn/dnnl/exec_context_impl.h"
#include "av_fusion/nn/precision.h"
#include "av_fusion/nn/score_block_internal.h"

namespace av_fusion::internal {

/// Which keys of one sequence its queries see, and what is added to their scores.
struct SequenceMask {
  std::int64_t valid_keys = 0;  ///< keys from here on are not seen, and not read
  const BandMask* band = nullptr;
  const CausalMask* causal = nullptr;
  const float* additive = nullptr;  ///< score (h, i, j) gets additive[h * head_step + i * Tk + j]
  std::int64_t additive_head_step = 0;

  /// The key of lag -width of a band; may lie outside of the sequence.
  std::int64_t first_lag_key(std::int64_t query) const {
    return query * band->stride + band->offset - band->width;
  }
  /// Empty where there is none. Both ends never decrease with `query`.
  KeyRange visible(std::int64_t query) const;
};

/// What the caller of a layer wants to know of one sequence; null for what is not wanted.
struct SequenceDetails {
  float* weights = nullptr;       ///< [H, Tq, Tk]
  float* mean_weights = nullptr;  ///< [Tq, Tk]
  float* band_weights = nullptr;  ///< [H, Tq, num_lags]
  float* band_logits = nullptr;   ///< [H, Tq, num_lags]

  bool any() const { return weights || mean_weights || band_weights || band_logits; }
};

/// One sequence after the projections: out_h = softmax(Q_h K_h^T) V_h for its heads h. The scale
/// 1/sqrt(d_k) is already in the queries. Operands of products have the element type of
/// `precision`.
struct AttentionSequence {
  std::int64_t num_heads = 1;
  std::int64_t num_queries = 0;
  std::int64_t num_keys = 0;
  std::int64_t key_width = 1;    ///< of a head
  std::int64_t value_width = 1;  ///< of a head
  /// False: each head has its own keys and values; tokens are rows [H * width] in all operands.
  /// True: all heads look at the same keys [Tk, key_width] and values [Tk, value_width]; queries
  /// and results of a block are [H, rows, width].
  bool shared_keys = false;
  Precision precision = Precision::kF32;
  const void* key = nullptr;
  const void* value = nullptr;
  SequenceMask mask;
  SequenceDetails details;
};

/// How the scores of a sequence are cut into blocks.
struct AttentionTiling {
  std::int64_t rows = 1;  ///< queries of a block
  std::int64_t keys = 1;  ///< keys of a block
  /// All keys that a block of queries sees fit into one block of keys, which slides along.
  bool one_step = false;
};

/// Of a sequence with these sizes, masks and details, for `threads` threads.
AttentionTiling attention_tiling(const AttentionSequence& sequence, int threads);

/// Attention of the queries `first_query` ... + `rows` - 1 (rows <= tiling.rows): `query` and `out`
/// are those of the block. Writes `out` (f32) and the details of these queries; `sums` [H, rows]
/// receives 0 where a query sees no key (its output is 0 then), else a positive number.
void attend(ExecContext::Impl& context, const AttentionSequence& sequence,
            const AttentionTiling& tiling, std::int64_t first_query, std::int64_t rows,
            const void* query, float* out, float* sums);

}  // namespace av_fusion::internal
