// Copyright 2026 The av_fusion authors. SPDX-License-Identifier: Apache-2.0
#include "av_fusion/nn/dnnl/packed_matmul.h"

#include <utility>

namespace av_fusion::internal {
namespace {

// The layout is chosen for this number of rows; it has been the same for 1 to 350.
constexpr std::int64_t kTypicalRows = 64;

}  // namespace

void append_activation(dnnl::post_ops& ops, Activation activation) {
  switch (activation) {
    case Activation::kNone: return;
    case Activation::kRelu: return append_eltwise(ops, dnnl::algorithm::eltwise_relu, 0.0f, 0.0f);
    case Activation::kGelu:
      return append_eltwise(ops, dnnl::algorithm::eltwise_gelu_erf, 0.0f, 0.0f);
  }
}

dnnl::memory::data_type operand_type(Precision precision) {
  return precision == Precision::kBf16 ? dnnl::memory::data_type::bf16
                                       : dnnl::memory::data_type::f32;
}

std::int64_t operand_bytes(Precision precision) { return precision == Precision::kBf16 ? 2 : 4; }

PackedMatmul::PackedMatmul(std::string_view layer, const Tensor<float>& weight, Tensor<float> bias,
                           const Options& options)
    : layer_(layer),
      in_(weight.dim(1)),
      out_(weight.dim(0)),
      options_(options),
      bias_(std::move(bias)),
      weights_(layer, weight.data(), strided_f32({in_, out_}, {1, in_}),
               describe(kTypicalRows, false).weights_desc()) {}

OperandDescs PackedMatmul::descs(std::int64_t rows) const {
  const dnnl::memory::data_type operand = operand_type(options_.operands);
  return {dense({rows, in_}, operand), any_layout({in_, out_}, operand),
          bias_.empty() ? dnnl::memory::desc() : dense_f32({1, out_}),
          dense({rows, out_}, operand_type(options_.result))};
}

std::string PackedMatmul::text(std::int64_t rows) const {
  return "matmul " + dims_text({rows, in_}) + " x " + dims_text({in_, out_});
}

dnnl::matmul::primitive_desc PackedMatmul::describe(std::int64_t rows, bool accumulate) const {
  return with_dnnl_errors(layer_, text(rows), [&] {
    dnnl::post_ops ops;
    append_activation(ops, options_.activation);
    if (accumulate) ops.append_sum(1.0f);
    return make_matmul(cpu_engine(), descs(rows), inference_attr(ops));
  });
}

std::shared_ptr<Op> PackedMatmul::build(std::int64_t rows, bool accumulate) const {
  const dnnl::matmul::primitive_desc pd = describe(rows, accumulate);
  return with_dnnl_errors(layer_, text(rows), [&] {
    auto op = std::make_shared<Op>(layer_, text(rows), dnnl::matmul(pd), pd.scratchpad_desc());
    const OperandDescs at = descs(rows);
    op->bind(DNNL_ARG_SRC, at.src);
    op->bind(DNNL_ARG_WEIGHTS, pd.weights_desc(), weights_.packed_as(pd.weights_desc()));
    op->bind(DNNL_ARG_BIAS, at.bias, bias_.data());
    op->bind(DNNL_ARG_DST, at.dst);
    return op;
  });
}

void PackedMatmul::run(ExecContext::Impl& context, const void* src, std::int64_t rows, void* dst,
                       bool accumulate) const {
  const PlanKey key{.layer = id_, .shape = {rows, accumulate ? 1 : 0}};
  const std::shared_ptr<Op> op = context.plan(key, [&] { return build(rows, accumulate); });
  op->set(DNNL_ARG_SRC, src);
  op->set(DNNL_ARG_DST, dst);
  context.run(*op);
}

}  // namespace av_fusion::internal
