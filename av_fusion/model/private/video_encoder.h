// Copyright 2026 The av_fusion authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "av_fusion/model/private/blocks.h"
#include "av_fusion/model/private/model_metadata.h"
#include "av_fusion/nn/conv2d.h"

namespace av_fusion {

/// Mouth pictures and lip geometry to video tokens: `VideoEncoder` of apps/train_aligner/model.py
/// where every tick is valid. Immutable and safe to share between threads.
class VideoEncoder {
 public:
  /// `weights` are the tensors "video.*" of the model file.
  VideoEncoder(const ModelConfig& config, const StateDict& weights);

  /// `crops` [T, mouth_height, mouth_width], `lips` [T, lip_features], `tokens` [T, D]; dense,
  /// T > 0.
  void forward(ExecContext& context, TensorView<const std::uint8_t> crops,
               TensorView<const float> lips, TensorView<float> tokens) const;

 private:
  void encode_pictures(ExecContext& context, TensorView<const std::uint8_t> crops,
                       TensorView<float> joined) const;
  void encode_lips(ExecContext& context, TensorView<const float> lips,
                   TensorView<float> joined) const;
  Tensor<float> normalised_lips(TensorView<const float> lips) const;

  ModelConfig config_;
  std::vector<Conv2d> convs_;
  Linear picture_;
  Tensor<float> lip_mean_;
  Tensor<float> lip_scale_;
  Linear lips_;
  Linear join_;
  ConvTransformerEncoder encoder_;
  LayerNorm norm_;
};

}  // namespace av_fusion
