// Copyright 2026 The av_fusion authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include "av_fusion/nn/activation.h"
#include "av_fusion/nn/conv1d.h"
#include "av_fusion/nn/conv2d.h"
#include "av_fusion/nn/layer_norm.h"
#include "av_fusion/nn/linear.h"
#include "av_fusion/nn/multi_head_attention.h"
#include "av_fusion/nn/state_dict.h"

// The parameters of layers from the state dict of a PyTorch module, under the names that PyTorch
// gives them: `Linear layer(load_linear(weights.sub("fc1.")));`.
//
// All functions throw the errors of `StateDict::take`, and leave `StateDict::expect_all_taken` to
// the caller. What a state dict does not hold (strides, an epsilon) is at the default of the
// parameters' struct and can be set in the result. Biases marked "optional" may be absent.
namespace av_fusion {

/// torch.nn.Linear: "weight" [out, in], "bias" [out] (optional).
Linear::Params load_linear(const StateDict& weights, Activation activation = Activation::kNone);

/// torch.nn.LayerNorm over one axis: "weight" [D], "bias" [D].
LayerNorm::Params load_layer_norm(const StateDict& weights);

/// torch.nn.Conv1d with groups = 1: "weight" [out, in, kernel], "bias" [out] (optional).
Conv1d::Params load_conv1d(const StateDict& weights, Activation activation = Activation::kNone);

/// torch.nn.Conv2d with groups = 1: "weight" [out, in, height, width], "bias" [out] (optional).
Conv2d::Params load_conv2d(const StateDict& weights, Activation activation = Activation::kNone);

/// Attention in any of these formats, which are told apart by the names. D is the embedding width;
/// in [3 D, ...] the rows of query, key and value follow each other.
///
/// | module                      | tensor                   | shape           |
/// | --------------------------- | ------------------------ | --------------- |
/// | torch.nn.MultiheadAttention | in_proj_weight           | [3 D, D]        |
/// |                             | in_proj_bias             | [3 D], optional |
/// |                             | out_proj.weight          | [D, D]          |
/// |                             | out_proj.bias            | [D], optional   |
/// | the same with kdim or vdim  | q_proj_weight            | [D, D]          |
/// |                             | k_proj_weight            | [D, kdim]       |
/// |                             | v_proj_weight            | [D, vdim]       |
/// |                             | in_proj_bias             | [3 D], optional |
/// |                             | out_proj.*               | as above        |
/// | qkv = Linear(D, 3 D),       | qkv.weight               | [3 D, D]        |
/// | out = Linear(D, D)          | qkv.bias                 | [3 D], optional |
/// |                             | out.weight               | [D, D]          |
/// |                             | out.bias                 | [D], optional   |
/// | a Linear each: query, key,  | {query,key,value}.weight | [D, its width]  |
/// | value and out               | {query,key,value}.bias   | [D], optional   |
/// |                             | out.*                    | as above        |
///
/// `num_heads` is not in a state dict; the layer's constructor checks it against D.
///
/// Throws `Error(kNotFound)` with the names that it looked for if it finds none of these formats,
/// `Error(kCorruptData)` if tensors of two formats are mixed, `Error(kUnsupported)` for "bias_k"
/// and "bias_v" (add_bias_kv of torch.nn.MultiheadAttention).
MultiHeadAttention::Params load_multi_head_attention(const StateDict& weights, int num_heads);

}  // namespace av_fusion
