// Copyright 2026 The av_fusion authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "av_fusion/nn/dnnl/attention_sequence.h"
#include "av_fusion/nn/dnnl/exec_context_impl.h"

namespace av_fusion::internal {

/// The products of a block of queries with a block of keys, as oneDNN sees them: of all heads, or
/// of `tiling.heads` if keys and values are packed. Keeps references to its arguments.
class AttentionProducts {
 public:
  AttentionProducts(ExecContext::Impl& context, const AttentionSequence& sequence,
                    const AttentionTiling& tiling, std::int64_t rows, std::int64_t keys);

  /// scores [heads, rows, keys] = query key^T
  void query_times_key(const void* query, const void* key, float* scores) const;

  /// out [+]= weights value
  void weights_times_value(const void* weights, const void* value, float* out, bool add) const;

  /// From the slices of tokens to the layout that oneDNN asks for with a full block of queries.
  std::shared_ptr<Op> key_packing() const;
  std::shared_ptr<Op> value_packing() const;

 private:
  using Desc = dnnl::memory::desc;
  using Type = dnnl::memory::data_type;
  enum Operation { kQueryKey, kWeightsValue, kAddWeightsValue, kPackKey, kPackValue };

  bool is_packed() const { return sequence_.layout == HeadLayout::kPacked; }
  Type type() const;
  Desc heads_of_tokens(std::int64_t count, std::int64_t width, Type type) const;
  Desc plain_key() const;
  Desc plain_value() const;
  Desc packed_key() const;
  Desc packed_value() const;
  OperandDescs packed_query_key(const Desc& key, std::int64_t rows) const;
  OperandDescs packed_weights_value(const Desc& value, std::int64_t rows) const;
  OperandDescs query_key(const Desc& key) const;
  OperandDescs weights_value(const Desc& value) const;

  PlanKey plan_key(Operation operation, std::int64_t width) const;
  std::string text(const std::string& product) const;
  dnnl::matmul::primitive_desc describe(const std::string& product, const OperandDescs& at,
                                        const dnnl::post_ops& ops) const;
  std::shared_ptr<Op> build_product(const std::string& product, const OperandDescs& at,
                                    const dnnl::post_ops& ops) const;
  std::shared_ptr<Op> build_packing(const Desc& from, const Desc& to) const;
  void run(Op& op, const void* a, const void* b, float* result) const;

  ExecContext::Impl& context_;
  const AttentionSequence& sequence_;
  std::int64_t full_rows_;
  std::int64_t heads_;
  std::int64_t rows_;
  std::int64_t keys_;
};

}  // namespace av_fusion::internal
