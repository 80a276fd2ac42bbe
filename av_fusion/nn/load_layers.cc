// Copyright 2026 The av_fusion authors. SPDX-License-Identifier: Apache-2.0
#include "av_fusion/nn/load_layers.h"

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "av_fusion/core/error.h"
#include "av_fusion/core/in_quotes.h"

namespace av_fusion {
namespace {

using Attention = MultiHeadAttention::Params;

/// The tensor, or an empty one if the state dict does not have it.
Tensor<float> take_optional(const StateDict& weights, std::string_view name,
                            const Shape& expected) {
  return weights.contains(name) ? weights.take(name, expected) : Tensor<float>();
}

/// "bias" of a layer with `weight` [out, ...].
Tensor<float> take_bias(const StateDict& weights, const Tensor<float>& weight) {
  return take_optional(weights, "bias", {weight.dim(0)});
}

/// Rows `third` * D to (`third` + 1) * D of `whole`, [3 D] or [3 D, D].
Tensor<float> third_of(const Tensor<float>& whole, int third) {
  const std::int64_t rows = whole.dim(0) / 3;
  Tensor<float> part(whole.shape().rank() == 1 ? Shape{rows} : Shape{rows, whole.dim(1)});
  std::copy_n(whole.data() + third * part.num_elements(), part.num_elements(), part.data());
  return part;
}

void take_fused_weight(const StateDict& weights, std::string_view name, Attention& params) {
  const Tensor<float> whole = weights.take(name, {kAny, kAny});
  if (whole.dim(0) % 3 != 0 || whole.dim(0) / 3 != whole.dim(1)) {
    throw Error(ErrorCode::kShapeMismatch, weights.place(name),
                "expected [3 D, D], got " + whole.shape().to_string());
  }
  params.query_weight = third_of(whole, 0);
  params.key_weight = third_of(whole, 1);
  params.value_weight = third_of(whole, 2);
}

/// After the weights.
void take_fused_bias(const StateDict& weights, std::string_view name, Attention& params) {
  if (!weights.contains(name)) return;
  const Tensor<float> whole = weights.take(name, {kAny});
  const std::int64_t dim = params.query_weight.dim(0);
  if (whole.dim(0) % 3 != 0 || whole.dim(0) / 3 != dim) {
    throw Error(
        ErrorCode::kShapeMismatch, weights.place(name),
        "expected [3 D] with D = " + std::to_string(dim) + ", got " + whole.shape().to_string());
  }
  params.query_bias = third_of(whole, 0);
  params.key_bias = third_of(whole, 1);
  params.value_bias = third_of(whole, 2);
}

/// The output projection `prefix`weight and `prefix`bias; after the other weights.
void take_out(const StateDict& weights, std::string_view prefix, Attention& params) {
  const StateDict layer = weights.sub(prefix);
  const std::int64_t dim = params.query_weight.dim(0);
  params.out_weight = layer.take("weight", {dim, dim});
  params.out_bias = take_bias(layer, params.out_weight);
}

void take_packed(const StateDict& weights, Attention& params) {
  take_fused_weight(weights, "in_proj_weight", params);
  take_fused_bias(weights, "in_proj_bias", params);
  take_out(weights, "out_proj.", params);
}

void take_packed_bias(const StateDict& weights, Attention& params) {
  const Shape& query = weights.shape("q_proj_weight");
  const std::int64_t dim = query.rank() > 0 ? query[0] : 0;
  params.query_weight = weights.take("q_proj_weight", {dim, dim});
  params.key_weight = weights.take("k_proj_weight", {dim, kAny});
  params.value_weight = weights.take("v_proj_weight", {dim, kAny});
  take_fused_bias(weights, "in_proj_bias", params);
  take_out(weights, "out_proj.", params);
}

void take_qkv(const StateDict& weights, Attention& params) {
  take_fused_weight(weights, "qkv.weight", params);
  take_fused_bias(weights, "qkv.bias", params);
  take_out(weights, "out.", params);
}

void take_separate(const StateDict& weights, Attention& params) {
  params.query_weight = weights.take("query.weight", {kAny, kAny});
  const std::int64_t dim = params.query_weight.dim(0);
  params.key_weight = weights.take("key.weight", {dim, kAny});
  params.value_weight = weights.take("value.weight", {dim, kAny});
  params.query_bias = take_optional(weights, "query.bias", {dim});
  params.key_bias = take_optional(weights, "key.bias", {dim});
  params.value_bias = take_optional(weights, "value.bias", {dim});
  take_out(weights, "out.", params);
}

/// A row of the table in the header.
struct Format {
  std::vector<std::string_view> projections;  ///< any of them tells the format
  std::vector<std::string_view> others;
  void (*take)(const StateDict& weights, Attention& params);

  bool has(std::string_view name) const {
    const auto is_in = [&](const auto& names) {
      return std::find(names.begin(), names.end(), name) != names.end();
    };
    return is_in(projections) || is_in(others);
  }
};

const std::vector<Format>& formats() {
  static const std::vector<Format> all = {
      {{"in_proj_weight"}, {"in_proj_bias", "out_proj.weight", "out_proj.bias"}, take_packed},
      {{"q_proj_weight", "k_proj_weight", "v_proj_weight"},
       {"in_proj_bias", "out_proj.weight", "out_proj.bias"},
       take_packed_bias},
      {{"qkv.weight"}, {"qkv.bias", "out.weight", "out.bias"}, take_qkv},
      {{"query.weight", "key.weight", "value.weight"},
       {"query.bias", "key.bias", "value.bias", "out.weight", "out.bias"},
       take_separate}};
  return all;
}

void add_to_list(std::string& list, std::string_view name) {
  list += (list.empty() ? "" : ", ") + in_quotes(name);
}

void refuse_extra_key(const StateDict& weights) {
  for (const std::string_view name : {"bias_k", "bias_v"}) {
    if (weights.contains(name)) {
      throw Error(ErrorCode::kUnsupported, weights.place(name),
                  "attention with a learned extra key (add_bias_kv) is not supported");
    }
  }
}

/// The format and the name of the projection that tells it.
std::pair<const Format*, std::string_view> find_format(const StateDict& weights) {
  std::string looked_for;
  for (const Format& format : formats()) {
    for (const std::string_view name : format.projections) {
      if (weights.contains(name)) return {&format, name};
      add_to_list(looked_for, weights.full_name(name));
    }
  }
  throw Error(ErrorCode::kNotFound, weights.file().name(),
              "there is no attention layer; looked for any of " + looked_for);
}

/// Throws if there are also tensors that only another format has.
void refuse_mixture(const StateDict& weights, const Format& format, std::string_view found) {
  const auto check = [&](std::string_view name) {
    if (format.has(name) || !weights.contains(name)) return;
    std::string looked_for;
    for (const std::string_view other : format.projections) add_to_list(looked_for, other);
    for (const std::string_view other : format.others) add_to_list(looked_for, other);
    throw Error(ErrorCode::kCorruptData, weights.place(name),
                "does not go with " + in_quotes(weights.full_name(found)) +
                    ", an attention layer of the tensors " + looked_for);
  };
  for (const Format& other : formats()) {
    for (const std::string_view name : other.projections) check(name);
    for (const std::string_view name : other.others) check(name);
  }
}

}  // namespace

Linear::Params load_linear(const StateDict& weights, Activation activation) {
  Linear::Params params{.weight = weights.take("weight", {kAny, kAny}), .activation = activation};
  params.bias = take_bias(weights, params.weight);
  return params;
}

LayerNorm::Params load_layer_norm(const StateDict& weights) {
  LayerNorm::Params params{.scale = weights.take("weight", {kAny}), .shift = {}};
  params.shift = weights.take("bias", params.scale.shape());
  return params;
}

Conv1d::Params load_conv1d(const StateDict& weights, Activation activation) {
  Conv1d::Params params{.weight = weights.take("weight", {kAny, kAny, kAny}),
                        .activation = activation};
  params.bias = take_bias(weights, params.weight);
  return params;
}

Conv2d::Params load_conv2d(const StateDict& weights, Activation activation) {
  Conv2d::Params params{.weight = weights.take("weight", {kAny, kAny, kAny, kAny}),
                        .activation = activation};
  params.bias = take_bias(weights, params.weight);
  return params;
}

MultiHeadAttention::Params load_multi_head_attention(const StateDict& weights, int num_heads) {
  refuse_extra_key(weights);
  const auto [format, found] = find_format(weights);
  refuse_mixture(weights, *format, found);
  MultiHeadAttention::Params params;
  params.num_heads = num_heads;
  format->take(weights, params);
  return params;
}

}  // namespace av_fusion
