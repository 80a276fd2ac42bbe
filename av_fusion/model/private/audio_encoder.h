// Copyright 2026 The av_fusion authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "av_fusion/model/private/blocks.h"
#include "av_fusion/model/private/model_metadata.h"

namespace av_fusion {

/// Log-mel frames to audio tokens: `AudioEncoder` of apps/train_aligner/model.py. Immutable and
/// safe to share between threads.
class AudioEncoder {
 public:
  /// Takes the tensors "audio.*" from `source`.
  AudioEncoder(const ModelConfig& config, TensorSource& source);

  /// `mel` [T, mel_bands], `tokens` [T, D]; dense, T > 0.
  void forward(ExecContext& context, TensorView<const float> mel, TensorView<float> tokens) const;

 private:
  Tensor<float> normalised(TensorView<const float> mel) const;

  ModelConfig config_;
  Tensor<float> mel_mean_;
  Tensor<float> mel_scale_;
  Conv1d stem_;
  std::vector<TemporalBlock> blocks_;
  AttentionBlock attention_;
  LayerNorm norm_;
};

}  // namespace av_fusion
