// Copyright 2026 The av_fusion authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include "av_fusion/model/private/blocks.h"
#include "av_fusion/model/private/model_metadata.h"
#include "av_fusion/nn/cross_attention_fusion.h"

namespace av_fusion {

/// Cross-attention of video tokens over audio tokens in a band, and the head that says whether the
/// face makes the sound: `AlignerNet.fuse` of apps/train_aligner/model.py. Immutable and safe to
/// share between threads.
class Fusion {
 public:
  /// What `forward` writes; shapes as in `AlignerModel::fuse`.
  struct Outputs {
    TensorView<float> lag_logits;
    TensorView<float> head_weights;
    TensorView<float> speaking_logits;
  };

  /// `weights` are all tensors of the model file; those of the fusion have no prefix.
  Fusion(const ModelConfig& config, const StateDict& weights);

  /// `video` [Tv, D], `audio` [Ta, D]; dense, Tv > 0, Ta > 0.
  void forward(ExecContext& context, TensorView<const float> video, TensorView<const float> audio,
               const BandMask& band, const Outputs& outputs) const;

 private:
  CrossAttentionFusion fusion_;
  LayerNorm speaking_norm_;
  Linear speaking_;
};

}  // namespace av_fusion
