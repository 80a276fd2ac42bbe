// Copyright 2026 The av_fusion authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "av_fusion/nn/conv_block.h"
#include "av_fusion/nn/feed_forward.h"
#include "av_fusion/nn/multi_head_attention.h"

namespace av_fusion {

/// Encoder of one modality (audio frames, video frames): convolutions see what is near, then a
/// pre-norm Transformer layer sees the rest:
///
///     x += Linear(gelu(Conv1d(LN(x))))          for each conv block, see ConvBlock
///     x += SelfAttention(LN(x))                 whole, or a band around each step
///     x += W2 gelu(W1 LN(x) + b1) + b2          see FeedForward
///
/// Local convolution and self-attention in one layer are the idea of the Conformer (Gulati et al.
/// 2020), which has other parts in another order; without conv blocks this is
/// torch.nn.TransformerEncoderLayer with norm_first and GELU. Layers can be stacked by running one
/// after the other on the same memory. Immutable and safe to share between threads.
class ConvTransformerEncoder {
 public:
  struct Params {
    std::vector<ConvBlock::Params> conv_blocks{};  ///< run in this order; may be empty
    LayerNorm::Params attention_norm;              ///< over D
    MultiHeadAttention::Params attention;          ///< from D to D
    /// A step sees this many steps on either side and itself (>= 0); nothing: it sees all.
    std::optional<std::int64_t> attention_width{};
    FeedForward::Params feed_forward;
  };

  /// Throws `Error(kShapeMismatch)` where widths disagree, `Error(kInvalidArgument)` if
  /// `attention_width` is negative or a part is not what its class asks for.
  explicit ConvTransformerEncoder(Params params);
  ~ConvTransformerEncoder();
  ConvTransformerEncoder(ConvTransformerEncoder&&) noexcept;
  ConvTransformerEncoder& operator=(ConvTransformerEncoder&&) noexcept;

  std::int64_t dim() const noexcept;  ///< D

  /// `x` [B, T, D] dense, changed in place. Throws `Error(kInvalidArgument)` if B or T is 0.
  ///
  /// `lengths` [B] (0 to T) are the valid steps of each sequence in a ragged batch; empty means
  /// all. A valid step comes out as if its sequence were alone; what comes out beyond a length has
  /// no meaning.
  void forward(ExecContext& context, TensorView<float> x,
               std::span<const std::int64_t> lengths = {}) const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace av_fusion
