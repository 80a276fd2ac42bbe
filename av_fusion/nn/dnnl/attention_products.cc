// Copyright 2026 The av_fusion authors. SPDX-License-Identifier: Apache-2.0
#include "av_fusion/nn/dnnl/attention_products.h"

#include "av_fusion/nn/dnnl/openmp_threads.h"
#include "av_fusion/nn/dnnl/packed_matmul.h"

// Tokens stay as the projections wrote them, [T, H * width]; a head is a strided view. oneDNN 2.6
// takes its fast path only for exactly dense views, hence the batch stride "rows * row length" for
// a block of rows (the batch extent is 1, so it addresses nothing).
namespace av_fusion::internal {
namespace {

constexpr const char* kLayer = "multi_head_attention";
constexpr const char* kKeyName = "Q K^T";
constexpr const char* kValueName = "softmax(S) V";

}  // namespace

AttentionProducts::AttentionProducts(ExecContext::Impl& context, const AttentionSequence& sequence,
                                     const AttentionTiling& tiling, std::int64_t rows,
                                     std::int64_t keys)
    : context_(context),
      sequence_(sequence),
      full_rows_(tiling.rows),
      heads_(tiling.heads),
      rows_(rows),
      keys_(keys) {}

void AttentionProducts::query_times_key(const void* query, const void* key, float* scores) const {
  const auto op = context_.plan(plan_key(kQueryKey, sequence_.key_width), [&] {
    return build_product(kKeyName, query_key(is_packed() ? packed_key() : plain_key()), {});
  });
  run(*op, query, key, scores);
}

void AttentionProducts::weights_times_value(const void* weights, const void* value, float* out,
                                            bool add) const {
  const Operation operation = add ? kAddWeightsValue : kWeightsValue;
  const auto op = context_.plan(plan_key(operation, sequence_.value_width), [&] {
    dnnl::post_ops ops;
    if (add) ops.append_sum(1.0f);
    return build_product(kValueName, weights_value(is_packed() ? packed_value() : plain_value()),
                         ops);
  });
  run(*op, weights, value, out);
}

std::shared_ptr<Op> AttentionProducts::key_packing() const {
  return context_.plan(plan_key(kPackKey, sequence_.key_width), [&] {
    const std::int64_t width = sequence_.key_width;
    return build_packing(
        strided({heads_, width, keys_}, {width, 1, sequence_.num_heads * width}, type()),
        packed_key());
  });
}

std::shared_ptr<Op> AttentionProducts::value_packing() const {
  return context_.plan(plan_key(kPackValue, sequence_.value_width), [&] {
    const std::int64_t width = sequence_.value_width;
    return build_packing(
        strided({heads_, keys_, width}, {width, sequence_.num_heads * width, 1}, type()),
        packed_value());
  });
}

dnnl::memory::data_type AttentionProducts::type() const {
  return operand_type(sequence_.precision);
}

// `count` tokens [H * width] seen as [1, H, count, width].
dnnl::memory::desc AttentionProducts::heads_of_tokens(std::int64_t count, std::int64_t width,
                                                      dnnl::memory::data_type type) const {
  const std::int64_t token = heads_ * width;
  return strided({1, heads_, count, width}, {count * token, width, token, 1}, type);
}

dnnl::memory::desc AttentionProducts::plain_key() const {
  const std::int64_t width = sequence_.key_width;
  if (sequence_.layout == HeadLayout::kShared) return strided({width, keys_}, {1, width}, type());
  const std::int64_t token = heads_ * width;
  return strided({1, heads_, width, keys_}, {keys_ * token, width, 1, token}, type());
}

dnnl::memory::desc AttentionProducts::plain_value() const {
  const std::int64_t width = sequence_.value_width;
  if (sequence_.layout == HeadLayout::kShared) return dense({keys_, width}, type());
  return heads_of_tokens(keys_, width, type());
}

// The layouts are those that oneDNN chooses for one thread, also where several run the product.
dnnl::memory::desc AttentionProducts::packed_key() const {
  const OpenMpThreads one_thread(1);
  const Desc any = any_layout({heads_, sequence_.key_width, keys_}, type());
  return describe(kKeyName, packed_query_key(any, full_rows_), {}).weights_desc();
}

dnnl::memory::desc AttentionProducts::packed_value() const {
  const OpenMpThreads one_thread(1);
  const Desc any = any_layout({heads_, keys_, sequence_.value_width}, type());
  return describe(kValueName, packed_weights_value(any, full_rows_), {}).weights_desc();
}

OperandDescs AttentionProducts::packed_query_key(const Desc& key, std::int64_t rows) const {
  return {dense({heads_, rows, sequence_.key_width}, type()),
          key,
          {},
          dense_f32({heads_, rows, keys_})};
}

OperandDescs AttentionProducts::packed_weights_value(const Desc& value, std::int64_t rows) const {
  return {dense({heads_, rows, keys_}, type()),
          value,
          {},
          dense_f32({heads_, rows, sequence_.value_width})};
}

OperandDescs AttentionProducts::query_key(const Desc& key) const {
  const std::int64_t width = sequence_.key_width;
  switch (sequence_.layout) {
    case HeadLayout::kPacked: return packed_query_key(key, rows_);
    case HeadLayout::kShared:
      return {dense({heads_ * rows_, width}, type()), key, {}, dense_f32({heads_ * rows_, keys_})};
    case HeadLayout::kTokens: break;
  }
  return {heads_of_tokens(rows_, width, type()), key, {}, dense_f32({1, heads_, rows_, keys_})};
}

OperandDescs AttentionProducts::weights_value(const Desc& value) const {
  const std::int64_t width = sequence_.value_width;
  switch (sequence_.layout) {
    case HeadLayout::kPacked: return packed_weights_value(value, rows_);
    case HeadLayout::kShared:
      return {
          dense({heads_ * rows_, keys_}, type()), value, {}, dense_f32({heads_ * rows_, width})};
    case HeadLayout::kTokens: break;
  }
  return {dense({1, heads_, rows_, keys_}, type()),
          value,
          {},
          heads_of_tokens(rows_, width, dnnl::memory::data_type::f32)};
}

PlanKey AttentionProducts::plan_key(Operation operation, std::int64_t width) const {
  const std::int64_t kind = static_cast<std::int64_t>(sequence_.layout) +
                            4 * static_cast<std::int64_t>(sequence_.precision) +
                            8 * sequence_.num_heads;
  return {.operation = operation, .shape = {heads_, width, rows_, keys_, kind, full_rows_}};
}

std::string AttentionProducts::text(const std::string& product) const {
  return product + ", " + std::to_string(heads_) + " heads, " + std::to_string(rows_) +
         " queries, " + std::to_string(keys_) + " keys";
}

dnnl::matmul::primitive_desc AttentionProducts::describe(const std::string& product,
                                                         const OperandDescs& at,
                                                         const dnnl::post_ops& ops) const {
  return with_dnnl_errors(kLayer, text(product),
                          [&] { return make_matmul(cpu_engine(), at, inference_attr(ops)); });
}

std::shared_ptr<Op> AttentionProducts::build_product(const std::string& product,
                                                     const OperandDescs& at,
                                                     const dnnl::post_ops& ops) const {
  const dnnl::matmul::primitive_desc pd = describe(product, at, ops);
  return with_dnnl_errors(kLayer, text(product), [&] {
    auto op = std::make_shared<Op>(kLayer, text(product), dnnl::matmul(pd), pd.scratchpad_desc());
    op->bind(DNNL_ARG_SRC, at.src);
    op->bind(DNNL_ARG_WEIGHTS, at.weights);
    op->bind(DNNL_ARG_DST, at.dst);
    return op;
  });
}

std::shared_ptr<Op> AttentionProducts::build_packing(const Desc& from, const Desc& to) const {
  return with_dnnl_errors(kLayer, text("packing"), [&] {
    const dnnl::reorder::primitive_desc pd(cpu_engine(), from, cpu_engine(), to, inference_attr());
    auto op =
        std::make_shared<Op>(kLayer, text("packing"), dnnl::reorder(pd), pd.scratchpad_desc());
    op->bind(DNNL_ARG_FROM, from);
    op->bind(DNNL_ARG_TO, to);
    return op;
  });
}

void AttentionProducts::run(Op& op, const void* a, const void* b, float* result) const {
  op.set(DNNL_ARG_SRC, a);
  op.set(DNNL_ARG_WEIGHTS, b);
  op.set(DNNL_ARG_DST, result);
  context_.run(op);
}

}  // namespace av_fusion::internal
