// Copyright 2026 The av_fusion authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include "av_fusion/model/private/blocks.h"
#include "av_fusion/model/private/model_metadata.h"

namespace av_fusion {

/// Log-mel frames to audio tokens: `AudioEncoder` of apps/train_aligner/model.py. Immutable and
/// safe to share between threads.
class AudioEncoder {
 public:
  /// `weights` are the tensors "audio.*" of the model file.
  AudioEncoder(const ModelConfig& config, const StateDict& weights);

  /// `mel` [T, mel_bands], `tokens` [T, D]; dense, T > 0.
  void forward(ExecContext& context, TensorView<const float> mel, TensorView<float> tokens) const;

 private:
  Tensor<float> normalised(TensorView<const float> mel) const;

  ModelConfig config_;
  Tensor<float> mel_mean_;
  Tensor<float> mel_scale_;
  Conv1d stem_;
  ConvTransformerEncoder encoder_;
  LayerNorm norm_;
};

}  // namespace av_fusion
