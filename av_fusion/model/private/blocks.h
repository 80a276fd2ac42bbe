// Copyright 2026 The av_fusion authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "av_fusion/model/private/model_metadata.h"
#include "av_fusion/nn/activation.h"
#include "av_fusion/nn/conv1d.h"
#include "av_fusion/nn/conv_transformer_encoder.h"
#include "av_fusion/nn/feed_forward.h"
#include "av_fusion/nn/layer_norm.h"
#include "av_fusion/nn/linear.h"
#include "av_fusion/nn/multi_head_attention.h"
#include "av_fusion/nn/state_dict.h"

// The parts that the encoders and the fusion are built from: the layers and blocks of av_fusion/nn,
// loaded from a model file that has to have all of their tensors, in the sizes that its metadata
// tell. apps/train_aligner/model.py defines them. All throw the errors of `StateDict::take`.
namespace av_fusion {

Linear make_linear(const StateDict& weights, std::int64_t out_features, std::int64_t in_features,
                   Activation activation = Activation::kNone);
LayerNorm make_layer_norm(const StateDict& weights, std::int64_t dim);

/// Dense convolution over time that keeps the length.
Conv1d make_conv1d(const StateDict& weights, std::int64_t out_channels, std::int64_t in_channels,
                   std::int64_t kernel, Activation activation);

/// "query", "key", "value" and "out", from `dim` to `dim`.
MultiHeadAttention::Params load_attention(const StateDict& weights, std::int64_t dim,
                                          std::int64_t num_heads);

/// As `load_feed_forward` of av_fusion/nn, in these sizes.
FeedForward::Params load_feed_forward(const StateDict& weights, std::int64_t dim,
                                      std::int64_t hidden);

/// "blocks", one for each dilation, and "attention", which sees `attention_width` steps on either
/// side.
ConvTransformerEncoder make_encoder(const StateDict& weights, const ModelConfig& config,
                                    const std::vector<std::int64_t>& dilations,
                                    std::int64_t attention_width);

/// The same elements in another shape; `view` must be dense.
template <typename T>
TensorView<T> reshaped(TensorView<T> view, const Shape& shape) {
  return {view.data(), shape};
}

}  // namespace av_fusion
