// Copyright 2026 The av_fusion authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "av_fusion/nn/feed_forward.h"
#include "av_fusion/nn/layer_norm.h"
#include "av_fusion/nn/multi_head_attention.h"

namespace av_fusion {

/// Fuses two modalities: video asks, audio answers. N layers, each
///
///     x += CrossAttention(query = LN_q(x), key = value = LN_kv(audio))
///     x += W2 gelu(W1 LN(x) + b1) + b2                        see FeedForward
///
/// from x = video: the decoder layer of Vaswani et al. 2017, "Attention Is All You Need", without
/// its self-attention and with the normalisation first. All layers see the same audio. Symbols: B
/// batch, Tv video steps, Ta audio steps, D video width, A audio width, H heads. Immutable and safe
/// to share between threads.
class CrossAttentionFusion {
 public:
  struct Layer {
    LayerNorm::Params query_norm{};        ///< over D; empty: x is the query as it is
    LayerNorm::Params key_norm{};          ///< over A; empty: the audio is taken as it is
    MultiHeadAttention::Params attention;  ///< queries of width D, keys and values of width A
    FeedForward::Params feed_forward;
  };
  struct Params {
    std::vector<Layer> layers;  ///< at least one; D, A and H are the same in all
  };

  /// Throws `Error(kShapeMismatch)` where widths disagree, `Error(kInvalidArgument)` if there is no
  /// layer or the numbers of heads differ; the message names the layer.
  explicit CrossAttentionFusion(Params params);
  ~CrossAttentionFusion();
  CrossAttentionFusion(CrossAttentionFusion&&) noexcept;
  CrossAttentionFusion& operator=(CrossAttentionFusion&&) noexcept;

  std::int64_t dim() const noexcept;          ///< D
  std::int64_t audio_width() const noexcept;  ///< A
  std::int64_t num_layers() const noexcept;
  int num_heads() const noexcept;  ///< H

  /// `video` [B, Tv, D], `audio` [B, Ta, A], `fused` [B, Tv, D]; dense, owned by the caller.
  /// `fused` may be the memory of `video`, but not overlap it otherwise, nor `audio`.
  ///
  /// `masks` hold for every layer. `details` is empty, or has one entry for each layer: which
  /// attention of this layer is wanted, and where it goes.
  ///
  /// Throws `Error(kShapeMismatch)` on shapes, `Error(kInvalidArgument)` if B, Tv or Ta is 0, a
  /// mask is out of range or the number of details is wrong. After an error the contents of `fused`
  /// are undefined.
  void forward(ExecContext& context, TensorView<const float> video, TensorView<const float> audio,
               TensorView<float> fused, const MultiHeadAttention::Masks& masks = {},
               std::span<const MultiHeadAttention::Details> details = {}) const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace av_fusion
