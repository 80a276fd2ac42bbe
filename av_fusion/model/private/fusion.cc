// Copyright 2026 The av_fusion authors. SPDX-License-Identifier: Apache-2.0
#include "av_fusion/model/private/fusion.h"

#include <algorithm>

namespace av_fusion {
namespace {

/// `logits` [1, H, T, L] to their sums over heads [T, L].
void sum_heads(TensorView<const float> logits, TensorView<float> sums) {
  for (std::int64_t t = 0; t < sums.dim(0); ++t) {
    for (std::int64_t l = 0; l < sums.dim(1); ++l) {
      float sum = 0;
      for (std::int64_t h = 0; h < logits.dim(1); ++h) sum += logits(0, h, t, l);
      sums(t, l) = sum;
    }
  }
}

/// `from` [1, H, T, L] to `to` [T, H, L].
void swap_heads_and_ticks(TensorView<const float> from, TensorView<float> to) {
  for (std::int64_t t = 0; t < to.dim(0); ++t) {
    for (std::int64_t h = 0; h < to.dim(1); ++h) {
      std::copy_n(&from(0, h, t, 0), to.dim(2), &to(t, h, 0));
    }
  }
}

}  // namespace

Fusion::Fusion(const ModelConfig& config, TensorSource& source)
    : num_heads_(config.num_heads),
      hidden_(config.feed_forward),
      attention_(make_attention(source, "", config.token_dim, config.num_heads)),
      feed_forward_(source, "feed_forward.", config.token_dim, config.feed_forward),
      speaking_norm_(make_layer_norm(source, "speaking_norm.", config.token_dim)),
      speaking_(make_linear(source, "speaking.", 1, config.token_dim)) {}

void Fusion::forward(ExecContext& context, TensorView<const float> video,
                     TensorView<const float> audio, const BandMask& band,
                     const Outputs& outputs) const {
  const std::int64_t ticks = video.dim(0);
  const std::int64_t dim = video.dim(1);
  const Shape keys{1, audio.dim(0), dim};
  const Shape details_shape{1, num_heads_, ticks, band.num_lags()};
  Tensor<float> logits(details_shape);
  Tensor<float> weights(details_shape);
  MultiHeadAttention::Masks masks;
  masks.band = band;
  MultiHeadAttention::Details details;
  details.band_logits = logits.view();
  details.band_weights = weights.view();

  Tensor<float> fused({ticks, dim});
  const Shape queries{1, ticks, dim};
  attention_.forward(context, reshaped(video, queries), reshaped(audio, keys),
                     reshaped(audio, keys), reshaped(fused.view(), queries), masks, details);
  sum_heads(logits.view(), outputs.lag_logits);
  swap_heads_and_ticks(weights.view(), outputs.head_weights);

  add_to(fused.view(), video);
  BlockScratch scratch(ticks, dim, hidden_);
  feed_forward_.forward(context, fused.view(), scratch);
  speaking_norm_.forward(context, fused.view(), fused.view());
  speaking_.forward(context, fused.view(), reshaped(outputs.speaking_logits, {ticks, 1}));
}

}  // namespace av_fusion
