// Copyright 2026 The av_fusion authors. SPDX-License-Identifier: Apache-2.0
#include "av_fusion/model/private/audio_encoder.h"

namespace av_fusion {

AudioEncoder::AudioEncoder(const ModelConfig& config, const StateDict& weights)
    : config_(config),
      mel_mean_(weights.take("mel_mean", {config.mel_bands})),
      mel_scale_(weights.take("mel_scale", {config.mel_bands})),
      stem_(make_conv1d(weights.sub("stem."), config.token_dim, config.mel_bands,
                        config.temporal_kernel, Activation::kGelu)),
      encoder_(make_encoder(weights, config, config.audio_dilations, config.audio_attention_width)),
      norm_(make_layer_norm(weights.sub("norm."), config.token_dim)) {}

void AudioEncoder::forward(ExecContext& context, TensorView<const float> mel,
                           TensorView<float> tokens) const {
  const std::int64_t frames = mel.dim(0);
  const Tensor<float> input = normalised(mel);
  const TensorView<float> sequence = reshaped(tokens, {1, frames, config_.token_dim});
  stem_.forward(context, reshaped(input.view(), {1, frames, config_.mel_bands}), sequence);
  encoder_.forward(context, sequence);
  norm_.forward(context, tokens, tokens);
}

Tensor<float> AudioEncoder::normalised(TensorView<const float> mel) const {
  Tensor<float> result(mel.shape());
  const TensorView<float> to = result.view();
  for (std::int64_t t = 0; t < mel.dim(0); ++t) {
    for (std::int64_t band = 0; band < mel.dim(1); ++band) {
      to(t, band) = (mel(t, band) - mel_mean_.view()(band)) * mel_scale_.view()(band);
    }
  }
  return result;
}

}  // namespace av_fusion
