// Copyright 2026 The av_fusion authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "av_fusion/nn/conv_block.h"
#include "av_fusion/nn/conv_transformer_encoder.h"
#include "av_fusion/nn/cross_attention_fusion.h"
#include "av_fusion/nn/feed_forward.h"
#include "av_fusion/nn/state_dict.h"

// The parameters of blocks from the state dict of a PyTorch module whose members have these names;
// tests/nn/blocks.py has such modules, ready to train. `{i}` counts from 0.
//
//     const WeightsFile file = WeightsFile::open("fusion.safetensors");
//     const StateDict weights(file);
//     const CrossAttentionFusion fusion(load_cross_attention_fusion(weights, /*num_heads=*/8));
//     weights.expect_all_taken();
//
// | function                        | names                                                |
// | ------------------------------- | ---------------------------------------------------- |
// | `load_feed_forward`             | norm.{weight,bias}        [D]                        |
// |                                 | up.{weight,bias}          [hidden, D], [hidden]      |
// |                                 | down.{weight,bias}        [D, hidden], [D]           |
// | `load_conv_block`               | norm.{weight,bias}        [D]                        |
// |                                 | conv.{weight,bias}        [channels, D, kernel], ... |
// |                                 | linear.{weight,bias}      [D, channels], [D]         |
// | `load_conv_transformer_encoder` | blocks.{i}.*              as load_conv_block         |
// |                                 | attention.norm.{weight,bias}            [D]          |
// |                                 | attention.attention.*     as load_multi_head_attention |
// |                                 | attention.feed_forward.*  as load_feed_forward       |
// | `load_cross_attention_fusion`   | layers.{i}.query_norm.{weight,bias}     [D], optional |
// |                                 | layers.{i}.key_norm.{weight,bias}       [A], optional |
// |                                 | layers.{i}.attention.*    as load_multi_head_attention |
// |                                 | layers.{i}.feed_forward.* as load_feed_forward       |
//
// The biases of up, down, conv and linear are optional. All functions throw the errors of
// `StateDict::take`, `Error(kShapeMismatch)` with file and tensor where widths disagree, and those
// of load_layers.h; they leave `StateDict::expect_all_taken` to the caller.
namespace av_fusion {

FeedForward::Params load_feed_forward(const StateDict& weights);

/// `dilation` is not in a state dict.
ConvBlock::Params load_conv_block(const StateDict& weights, int dilation = 1);

/// What the state dict of a ConvTransformerEncoder does not say.
struct ConvTransformerEncoderOptions {
  std::vector<int> dilations{};  ///< one for each conv block; so many are loaded
  int num_heads = 1;
  std::optional<std::int64_t> attention_width{};
};

ConvTransformerEncoder::Params load_conv_transformer_encoder(
    const StateDict& weights, const ConvTransformerEncoderOptions& options);

/// As many layers as there are; `num_heads` is not in a state dict.
CrossAttentionFusion::Params load_cross_attention_fusion(const StateDict& weights, int num_heads);

}  // namespace av_fusion
