// Copyright 2026 The av_fusion authors. SPDX-License-Identifier: Apache-2.0
#include "av_fusion/nn/dnnl/packed_heads.h"

#include "av_fusion/nn/dnnl/packed_matmul.h"

namespace av_fusion::internal {
namespace {

constexpr std::int64_t kTypicalRows = 16;  // the layout of the weights is chosen for this many

// Head h of W [H * head_dim, width] as a matrix [head_dim, width], or transposed.
dnnl::memory::desc plain_weight(std::int64_t heads, std::int64_t head_dim, std::int64_t width,
                                PackedHeads::Direction direction) {
  const std::int64_t plane = head_dim * width;
  return direction == PackedHeads::Direction::kToInput
             ? strided_f32({1, heads, head_dim, width}, {heads * plane, plane, width, 1})
             : strided_f32({1, heads, width, head_dim}, {heads * plane, plane, 1, width});
}

}  // namespace

PackedHeads::PackedHeads(std::string_view layer, const Tensor<float>& weight,
                         std::int64_t num_heads, Direction direction, Precision operands,
                         Precision result)
    : layer_(layer),
      heads_(num_heads),
      head_dim_(weight.dim(0) / num_heads),
      width_(weight.dim(1)),
      direction_(direction),
      operands_(operands),
      result_(result),
      weights_(layer_, weight.data(), plain_weight(heads_, head_dim_, width_, direction_),
               describe(kTypicalRows).weights_desc()) {}

dnnl::memory::dims PackedHeads::weight_dims() const {
  return dims_of(plain_weight(heads_, head_dim_, width_, direction_));
}

OperandDescs PackedHeads::descs(std::int64_t rows) const {
  const auto tokens = [&](Precision precision) {
    const std::int64_t length = heads_ * head_dim_;
    return strided({1, heads_, rows, head_dim_}, {rows * length, head_dim_, length, 1},
                   operand_type(precision));
  };
  const auto planes = [&](Precision precision) {
    return dense({1, heads_, rows, width_}, operand_type(precision));
  };
  const dnnl::memory::desc weights = any_layout(weight_dims(), operand_type(operands_));
  if (direction_ == Direction::kToInput) return {tokens(operands_), weights, {}, planes(result_)};
  return {planes(operands_), weights, {}, tokens(result_)};
}

std::string PackedHeads::text(std::int64_t rows) const {
  return "projection of " + std::to_string(rows) + " rows with " + dims_text(weight_dims());
}

dnnl::matmul::primitive_desc PackedHeads::describe(std::int64_t rows) const {
  return with_dnnl_errors(layer_, text(rows),
                          [&] { return make_matmul(cpu_engine(), descs(rows), inference_attr()); });
}

std::shared_ptr<Op> PackedHeads::build(std::int64_t rows) const {
  const dnnl::matmul::primitive_desc pd = describe(rows);
  return with_dnnl_errors(layer_, text(rows), [&] {
    auto op = std::make_shared<Op>(layer_, text(rows), dnnl::matmul(pd), pd.scratchpad_desc());
    const OperandDescs at = descs(rows);
    op->bind(DNNL_ARG_SRC, at.src);
    op->bind(DNNL_ARG_WEIGHTS, pd.weights_desc(), weights_.packed_as(pd.weights_desc()));
    op->bind(DNNL_ARG_DST, at.dst);
    return op;
  });
}

void PackedHeads::run(ExecContext::Impl& context, const void* src, std::int64_t rows,
                      void* dst) const {
  const std::shared_ptr<Op> op =
      context.plan({.layer = id_, .shape = {rows}}, [&] { return build(rows); });
  op->set(DNNL_ARG_SRC, src);
  op->set(DNNL_ARG_DST, dst);
  context.run(*op);
}

}  // namespace av_fusion::internal
