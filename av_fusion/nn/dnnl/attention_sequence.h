// Copyright 2026 The av_fusion authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include "av_fusion/nn/band_mask.h"
#include "av_fusion/nn/causal_mask.h"
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
  float* mean_weights = nullptr;  ///< [Tq, Tk], of all heads of the layer
  float* band_weights = nullptr;  ///< [H, Tq, num_lags]
  float* band_logits = nullptr;   ///< [H, Tq, num_lags]

  bool any() const { return weights || mean_weights || band_weights || band_logits; }
};

/// Where the numbers of a head are in the operands of attention.
enum class HeadLayout {
  kTokens,  ///< everything is rows [H * width], a head is a slice of each
  kShared,  ///< all heads look at the same keys [Tk, key_width] and values [Tk, value_width];
            ///< queries and results of a block are [H, rows, width]
  kPacked,  ///< keys and values are packed by `pack_block`; queries and results are rows
};

/// Offsets of packed keys and values: for each block of keys, for each group of heads, first the
/// keys, then the values.
struct PackedPlaces {
  std::int64_t groups = 1;
  std::size_t key_bytes = 0;    ///< of one group in one block
  std::size_t value_bytes = 0;  ///< likewise

  std::size_t key(std::int64_t block, std::int64_t group) const {
    return static_cast<std::size_t>(block * groups + group) * (key_bytes + value_bytes);
  }
  std::size_t value(std::int64_t block, std::int64_t group) const {
    return key(block, group) + key_bytes;
  }
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
  HeadLayout layout = HeadLayout::kTokens;
  Precision precision = Precision::kF32;
  const void* key = nullptr;    ///< with kPacked, the packed keys and values
  const void* value = nullptr;  ///< not used with kPacked
  PackedPlaces packed;          ///< used with kPacked
  SequenceMask mask;
  SequenceDetails details;
};

/// How the scores of a sequence are cut into blocks.
struct AttentionTiling {
  std::int64_t rows = 1;   ///< queries of a block
  std::int64_t keys = 1;   ///< keys of a block
  std::int64_t heads = 1;  ///< heads of a block; divides all heads
  /// One block of keys for each block of queries, which slides along with the band. Else blocks of
  /// keys begin at multiples of `keys`.
  bool sliding = false;
  /// Whether it pays to pack keys and values, instead of leaving that to each product: with several
  /// blocks of queries that go through the same blocks of keys.
  bool packed = false;

  std::int64_t query_blocks(const AttentionSequence& sequence) const {
    return (sequence.num_queries + rows - 1) / rows;
  }
  std::int64_t key_blocks(const AttentionSequence& sequence) const {
    return (sequence.mask.valid_keys + keys - 1) / keys;
  }
};

}  // namespace av_fusion::internal
