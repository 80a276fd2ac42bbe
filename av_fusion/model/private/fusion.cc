// Copyright 2026 The av_fusion authors. SPDX-License-Identifier: Apache-2.0
#include "av_fusion/model/private/fusion.h"

#include <algorithm>
#include <utility>

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

CrossAttentionFusion make_fusion(const ModelConfig& config, const StateDict& weights) {
  CrossAttentionFusion::Layer layer{
      .attention = load_attention(weights, config.token_dim, config.num_heads),
      .feed_forward =
          load_feed_forward(weights.sub("feed_forward."), config.token_dim, config.feed_forward)};
  CrossAttentionFusion::Params params;
  params.layers.push_back(std::move(layer));
  return CrossAttentionFusion(std::move(params));
}

}  // namespace

Fusion::Fusion(const ModelConfig& config, const StateDict& weights)
    : fusion_(make_fusion(config, weights)),
      speaking_norm_(make_layer_norm(weights.sub("speaking_norm."), config.token_dim)),
      speaking_(make_linear(weights.sub("speaking."), 1, config.token_dim)) {}

void Fusion::forward(ExecContext& context, TensorView<const float> video,
                     TensorView<const float> audio, const BandMask& band,
                     const Outputs& outputs) const {
  const std::int64_t ticks = video.dim(0);
  const std::int64_t dim = video.dim(1);
  const Shape details_shape{1, fusion_.num_heads(), ticks, band.num_lags()};
  Tensor<float> logits(details_shape);
  Tensor<float> weights(details_shape);
  MultiHeadAttention::Masks masks;
  masks.band = band;
  MultiHeadAttention::Details details;
  details.band_logits = logits.view();
  details.band_weights = weights.view();

  Tensor<float> fused({ticks, dim});
  const Shape queries{1, ticks, dim};
  fusion_.forward(context, reshaped(video, queries), reshaped(audio, {1, audio.dim(0), dim}),
                  reshaped(fused.view(), queries), masks, {&details, 1});
  sum_heads(logits.view(), outputs.lag_logits);
  swap_heads_and_ticks(weights.view(), outputs.head_weights);

  speaking_norm_.forward(context, fused.view(), fused.view());
  speaking_.forward(context, fused.view(), reshaped(outputs.speaking_logits, {ticks, 1}));
}

}  // namespace av_fusion
