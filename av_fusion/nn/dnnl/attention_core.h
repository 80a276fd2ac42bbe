// Copyright 2026 The av_fusion authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "av_fusion/nn/band_mask.h"
#include "av_fusion/nn/dnnl/exec_context_impl.h"

namespace av_fusion::internal {

/// Rows of D = num_heads * head_dim floats, `stride` floats apart (3 D in a fused Q, K, V buffer).
struct TokenRows {
  float* data = nullptr;
  std::int64_t stride = 0;

  float* row(std::int64_t index) const { return data + index * stride; }
};

/// One sequence of a batch, after the projections: head_h = softmax(Q_h K_h^T) V_h. The scale
/// 1/sqrt(head_dim) is already in `query`.
struct AttentionTask {
  std::int64_t num_heads = 1;
  std::int64_t head_dim = 1;
  std::int64_t num_queries = 0;
  std::int64_t num_keys = 0;    ///< extent of the key axis in `weights`
  std::int64_t valid_keys = 0;  ///< keys from here on are not seen, and not read
  TokenRows query;
  TokenRows key;
  TokenRows value;
  TokenRows out;                  ///< may be `query` itself
  float* scores = nullptr;        ///< scratch of `scores_floats()` floats
  float* weights = nullptr;       ///< [H, Tq, num_keys], or null
  float* band_weights = nullptr;  ///< [H, Tq, num_lags], or null
  float* band_logits = nullptr;   ///< [H, Tq, num_lags], or null
};

/// Scratch that `attend` needs for sequences of up to this size; linear in `num_keys`.
std::int64_t scores_floats(std::int64_t num_heads, std::int64_t num_queries, std::int64_t num_keys,
                           const BandMask* band);

/// Writes `out` and the details that are not null. With a band (else null) the cost is that of the
/// band. Queries that see no key get zeros.
void attend(ExecContext::Impl& context, const AttentionTask& task, const BandMask* band);

}  // namespace av_fusion::internal
