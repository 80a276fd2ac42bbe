// Copyright 2026 The av_fusion authors. SPDX-License-Identifier: Apache-2.0
#include "av_fusion/model/private/audio_encoder.h"

#include <string>

namespace av_fusion {
namespace {

std::vector<TemporalBlock> make_blocks(const ModelConfig& config, TensorSource& source) {
  std::vector<TemporalBlock> blocks;
  for (const std::int64_t dilation : config.audio_dilations) {
    blocks.emplace_back(source, "audio.blocks." + std::to_string(blocks.size()) + ".",
                        config.token_dim, config.temporal_kernel, dilation);
  }
  return blocks;
}

}  // namespace

AudioEncoder::AudioEncoder(const ModelConfig& config, TensorSource& source)
    : config_(config),
      mel_mean_(source.take("audio.mel_mean", {config.mel_bands})),
      mel_scale_(source.take("audio.mel_scale", {config.mel_bands})),
      stem_(make_conv1d(source, "audio.stem.", config.token_dim, config.mel_bands,
                        config.temporal_kernel, 1, Activation::kGelu)),
      blocks_(make_blocks(config, source)),
      attention_(source, "audio.attention.", config.token_dim, config.num_heads,
                 config.audio_attention_width, config.feed_forward),
      norm_(make_layer_norm(source, "audio.norm.", config.token_dim)) {}

void AudioEncoder::forward(ExecContext& context, TensorView<const float> mel,
                           TensorView<float> tokens) const {
  const std::int64_t frames = mel.dim(0);
  const Tensor<float> input = normalised(mel);
  stem_.forward(context, reshaped(input.view(), {1, frames, config_.mel_bands}),
                reshaped(tokens, {1, frames, config_.token_dim}));

  BlockScratch scratch(frames, config_.token_dim, config_.feed_forward);
  for (const TemporalBlock& block : blocks_) block.forward(context, tokens, scratch);
  attention_.forward(context, tokens, scratch);
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
