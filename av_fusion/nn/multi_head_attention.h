// Copyright 2026 The av_fusion authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <span>

#include "av_fusion/core/tensor.h"
#include "av_fusion/nn/band_mask.h"
#include "av_fusion/nn/causal_mask.h"
#include "av_fusion/nn/exec_context.h"
#include "av_fusion/nn/precision.h"

namespace av_fusion {

/// Multi-head attention (Vaswani et al. 2017, "Attention Is All You Need", section 3.2.2):
///
///     head_h = softmax(Q_h K_h^T / sqrt(d_k)) V_h,   Q_h = q Wq_h^T + bq_h, K_h and V_h alike
///     out    = concat(head_1 ... head_H) Wo^T + bo
///
/// Self-attention when query, key and value are one sequence; cross-attention when, for example,
/// video asks and audio answers. Symbols: B batch, Tq queries, Tk keys, D = embed_dim, H = heads,
/// d_k = D / H. Immutable and safe to share between threads.
///
/// Scores are made for a block of queries and keys at a time (with the running softmax of Milakov
/// and Gimelshein 2018), so that scratch memory grows with Tq + Tk, not with Tq * Tk, also where
/// weights are asked for. With a band or a causal mask only blocks that somebody sees are computed.
///
/// Few queries (fewer than about d_k for each sequence of the batch) do not wait for the
/// projection of all keys: q_h . (Wk_h k) = (Wk_h^T q_h) . k, so the projection moves to the
/// queries, and for the values to the weighted means.
class MultiHeadAttention {
 public:
  struct Params {
    int num_heads = 1;           ///< divides D
    Tensor<float> query_weight;  ///< [D, query width]
    Tensor<float> key_weight;    ///< [D, key width]
    Tensor<float> value_weight;  ///< [D, value width]
    Tensor<float> query_bias{};  ///< [D], or empty; the same holds for the other biases
    Tensor<float> key_bias{};
    Tensor<float> value_bias{};
    Tensor<float> out_weight;  ///< [D, D]
    Tensor<float> out_bias{};
    Precision precision = Precision::kF32;
  };

  /// The parameters of a fused projection, rows in the order Q, K, V: `in_proj_weight` of
  /// torch.nn.MultiheadAttention, or the plain module's Linear(D, 3 D).
  struct FusedParams {
    int num_heads = 1;
    Tensor<float> qkv_weight;  ///< [3 D, D]
    Tensor<float> qkv_bias{};  ///< [3 D], or empty
    Tensor<float> out_weight;  ///< [D, D]
    Tensor<float> out_bias{};  ///< [D], or empty
    Precision precision = Precision::kF32;
  };

  /// Which keys a query may see; the conditions hold together. A query that sees no key gets
  /// weights of zero and the output of an all-zero head (the output bias).
  struct Masks {
    /// [B] number of valid keys of each sequence, 0 to Tk; empty means all.
    std::span<const std::int64_t> key_lengths{};
    std::optional<BandMask> band{};
    std::optional<CausalMask> causal{};
    /// Added to the scores q.k / sqrt(d_k): [Tq, Tk], [B, Tq, Tk] or [B, H, Tq, Tk], dense. Minus
    /// infinity hides a key.
    TensorView<const float> additive{};
  };

  /// Optional results besides the output; a default view means "not wanted". All dense, owned by
  /// the caller and filled completely.
  struct Details {
    TensorView<float> weights{};       ///< [B, H, Tq, Tk]
    TensorView<float> mean_weights{};  ///< [B, Tq, Tk]: the mean over the heads
    /// [B, H, Tq, num_lags]; lag index l is key i * stride + offset + l - width. Needs a band.
    TensorView<float> band_weights{};
    /// As `band_weights`, before additive mask and softmax: q.k / sqrt(d_k), or 0 where the masks
    /// hide the key.
    TensorView<float> band_logits{};
  };

  /// Throws `Error(kInvalidArgument)` "embed_dim 64 is not divisible by num_heads 5",
  /// `Error(kShapeMismatch)` where weights disagree, `Error(kUnsupported)` if the processor does
  /// not have the precision.
  explicit MultiHeadAttention(Params params);
  explicit MultiHeadAttention(FusedParams params);
  ~MultiHeadAttention();
  MultiHeadAttention(MultiHeadAttention&&) noexcept;
  MultiHeadAttention& operator=(MultiHeadAttention&&) noexcept;

  std::int64_t embed_dim() const noexcept;
  std::int64_t query_width() const noexcept;
  std::int64_t key_width() const noexcept;
  std::int64_t value_width() const noexcept;
  int num_heads() const noexcept;

  /// Cross-attention: `query` [B, Tq, query width], `key` [B, Tk, key width], `value`
  /// [B, Tk, value width], `out` [B, Tq, D]; dense f32, owned by the caller; `out` must not overlap
  /// the inputs, unless with `accumulate`, which adds the result to what `out` holds (a residual
  /// connection). Throws `Error(kShapeMismatch)` on shapes, `Error(kInvalidArgument)` if B, Tq or
  /// Tk is 0 or a mask is out of range.
  void forward(ExecContext& context, TensorView<const float> query, TensorView<const float> key,
               TensorView<const float> value, TensorView<float> out, const Masks& masks,
               const Details& details, bool accumulate = false) const;
  void forward(ExecContext& context, TensorView<const float> query, TensorView<const float> key,
               TensorView<const float> value, TensorView<float> out) const {
    forward(context, query, key, value, out, Masks{}, Details{});
  }

  /// Self-attention on `sequence` [B, T, D].
  void forward(ExecContext& context, TensorView<const float> sequence, TensorView<float> out,
               const Masks& masks, const Details& details, bool accumulate = false) const {
    forward(context, sequence, sequence, sequence, out, masks, details, accumulate);
  }
  void forward(ExecContext& context, TensorView<const float> sequence,
               TensorView<float> out) const {
    forward(context, sequence, out, Masks{}, Details{});
  }

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace av_fusion
