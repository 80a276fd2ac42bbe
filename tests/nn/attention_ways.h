// Copyright 2026 The av_fusion authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <limits>
#include <optional>
#include <ostream>
#include <string>
#include <vector>

#include "av_fusion/nn/multi_head_attention.h"
#include "tests/nn/block_reference.h"

namespace av_fusion {

/// A call that takes one of the ways through `MultiHeadAttention`: sizes, masks and details decide.
struct AttentionWay {
  const char* name;
  std::int64_t queries;
  std::int64_t keys;
  std::optional<BandMask> band{};
  std::optional<CausalMask> causal{};
  bool additive = false;
  bool weights = false;  ///< weights and mean_weights are wanted
  Precision precision = Precision::kF32;
};

inline void PrintTo(const AttentionWay& way, std::ostream* out) { *out << way.name; }

inline std::vector<AttentionWay> attention_ways() {
  constexpr Precision kBf16 = Precision::kBf16;
  std::vector<AttentionWay> ways = {
      {"few", 3, 240},
      {"few_weights", 3, 240, {}, {}, true, true},
      {"some", 50, 240},
      {"some_weights", 50, 240, {}, {}, false, true},
      {"local", 50, 240, BandMask{4, 10, 30}},
      {"local_weights", 50, 240, BandMask{4, 10, 30}, {}, false, true},
      {"wide", 300, 1500, BandMask{4, 10, 900}},
      {"many", 300, 530},
      {"many_weights", 300, 530, {}, {}, false, true},
      {"many_causal", 300, 530, {}, CausalMask{2, 1}},
      {"many_additive", 300, 530, {}, {}, true},
      {"many_everything", 300, 530, {}, CausalMask{1, 100}, true, true},
  };
  if (is_native(kBf16)) {
    ways.push_back({"bf16_few", 3, 240, {}, {}, false, true, kBf16});
    ways.push_back({"bf16_some", 50, 240, BandMask{4, 10, 30}, {}, false, false, kBf16});
    ways.push_back({"bf16_many", 300, 530, {}, CausalMask{2, 1}, true, false, kBf16});
    ways.push_back({"bf16_many_weights", 300, 530, {}, {}, false, true, kBf16});
  }
  return ways;
}

/// A layer and what it reads on a way: two sequences, the first of them shorter.
class AttentionCase {
 public:
  struct Output {
    Tensor<float> out, weights, mean_weights;

    std::vector<float> all() const {
      std::vector<float> result;
      for (const Tensor<float>* tensor : {&out, &weights, &mean_weights}) {
        result.insert(result.end(), tensor->elements().begin(), tensor->elements().end());
      }
      return result;
    }
  };

  explicit AttentionCase(const AttentionWay& way)
      : way_(way),
        layer_(params(way.precision)),
        query_(reference::random({kBatch, way.queries, kDim}, 1)),
        key_(reference::random({kBatch, way.keys, kDim}, 2)),
        lengths_{way.keys / 2 + 1, way.keys} {
    if (!way.additive) return;
    additive_ = reference::random({kBatch, kHeads, way.queries, way.keys}, 3);
    for (float& x : additive_.elements()) {
      if (x < -1.0f) x = -std::numeric_limits<float>::infinity();
    }
  }

  Output output() const {
    Output output{Tensor<float>(query_.shape()), {}, {}};
    if (!way_.weights) return output;
    output.weights = Tensor<float>(Shape{kBatch, kHeads, way_.queries, way_.keys});
    output.mean_weights = Tensor<float>(Shape{kBatch, way_.queries, way_.keys});
    return output;
  }

  void run(ExecContext& context, Output& to) const {
    MultiHeadAttention::Masks masks{.key_lengths = lengths_, .band = way_.band};
    masks.causal = way_.causal;
    if (way_.additive) masks.additive = additive_.view();
    MultiHeadAttention::Details details;
    if (way_.weights) {
      details = {.weights = to.weights.view(), .mean_weights = to.mean_weights.view()};
    }
    layer_.forward(context, query_.view(), key_.view(), key_.view(), to.out.view(), masks, details);
  }
  std::vector<float> run(ExecContext& context) const {
    Output to = output();
    run(context, to);
    return to.all();
  }

 private:
  static constexpr std::int64_t kBatch = 2;
  static constexpr std::int64_t kDim = 64;
  static constexpr int kHeads = 4;

  static MultiHeadAttention::Params params(Precision precision) {
    MultiHeadAttention::Params params = reference::attention_params(kDim, kDim, kHeads, 11);
    params.precision = precision;
    return params;
  }

  AttentionWay way_;
  MultiHeadAttention layer_;
  Tensor<float> query_, key_, additive_;
  std::vector<std::int64_t> lengths_;
};

}  // namespace av_fusion
