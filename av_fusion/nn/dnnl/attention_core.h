// Copyright 2026 The av_fusion authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include "av_fusion/nn/dnnl/attention_sequence.h"
#include "av_fusion/nn/dnnl/exec_context_impl.h"

namespace av_fusion::internal {

/// Of a sequence of tokens or shared keys with these sizes, masks and details, for `threads`
/// threads. `rows`, `sliding` and `packed` do not depend on `mask.valid_keys`.
AttentionTiling attention_tiling(const AttentionSequence& sequence, int threads);

/// Where packed keys and values of a sequence of tokens go; the bytes needed for all are
/// `key(tiling.key_blocks(sequence), 0)`.
PackedPlaces packed_places(ExecContext::Impl& context, const AttentionSequence& sequence,
                           const AttentionTiling& tiling);

/// Packs block `index` of the keys and values of a sequence of tokens into its place in `to`.
void pack_block(ExecContext::Impl& context, const AttentionSequence& sequence,
                const AttentionTiling& tiling, const PackedPlaces& places, std::int64_t index,
                std::byte* to);

/// Attention of the queries `first_query` ... + `rows` - 1 (rows <= tiling.rows): `query` and `out`
/// are those of the block. Writes `out` (f32) and the details of these queries; `sums` [H, rows]
/// receives 0 where a query sees no key (its output is 0 then), else a positive number.
void attend(ExecContext::Impl& context, const AttentionSequence& sequence,
            const AttentionTiling& tiling, std::int64_t first_query, std::int64_t rows,
            const void* query, float* out, float* sums);

}  // namespace av_fusion::internal
