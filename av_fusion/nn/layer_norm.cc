// Copyright 2026 The av_fusion authors. SPDX-License-Identifier: Apache-2.0
#include "av_fusion/nn/layer_norm.h"

#include <utility>

#include "av_fusion/nn/dnnl/exec_context_impl.h"
#include "av_fusion/nn/validate_internal.h"

namespace av_fusion {
namespace {

LayerNorm::Params checked(LayerNorm::Params params) {
  if (params.scale.empty()) {
    throw Error(ErrorCode::kInvalidArgument, "layer_norm", "the scale is empty");
  }
  expect_shape(params.scale.shape(), {kAny}, "layer_norm scale");
  expect_shape(params.shift.shape(), {params.scale.dim(0)}, "layer_norm shift");
  if (!(params.epsilon > 0.0f)) {
    throw Error(ErrorCode::kInvalidArgument, "layer_norm",
                "epsilon must be positive, got " + std::to_string(params.epsilon));
  }
  return params;
}

}  // namespace

class LayerNorm::Impl {
 public:
  explicit Impl(Params given) : params(checked(std::move(given))) {}

  std::shared_ptr<internal::Op> build(std::int64_t rows) const {
    const std::string what =
        "layer normalisation of " + internal::dims_text({rows, params.scale.dim(0)});
    return internal::with_dnnl_errors("layer_norm", what, [&] {
      const dnnl::memory::desc data = internal::dense_f32({rows, params.scale.dim(0)});
      const dnnl::memory::desc row = internal::dense_f32({params.scale.dim(0)});
      const auto pd = internal::make_layer_norm(internal::cpu_engine(), data, params.epsilon,
                                                internal::inference_attr());
      auto op = std::make_shared<internal::Op>(
          "layer_norm", what, dnnl::layer_normalization_forward(pd), pd.scratchpad_desc());
      op->bind(DNNL_ARG_SRC, data);
      op->bind(DNNL_ARG_SCALE, row, params.scale.data());
      op->bind(DNNL_ARG_SHIFT, row, params.shift.data());
      op->bind(DNNL_ARG_DST, data);
      return op;
    });
  }

  std::uint64_t id = internal::next_layer_id();
  Params params;
};

LayerNorm::LayerNorm(Params params) : impl_(std::make_unique<Impl>(std::move(params))) {}
LayerNorm::~LayerNorm() = default;
LayerNorm::LayerNorm(LayerNorm&&) noexcept = default;
LayerNorm& LayerNorm::operator=(LayerNorm&&) noexcept = default;

std::int64_t LayerNorm::dim() const noexcept { return impl_->params.scale.dim(0); }

void LayerNorm::forward(ExecContext& context, TensorView<const float> in,
                        TensorView<float> out) const {
  internal::expect_operand(in, {kAny, dim()}, "layer_norm", "input");
  internal::expect_operand(out, in.shape(), "layer_norm", "output");
  if (in.empty()) return;
  if (in.data() != out.data()) internal::expect_disjoint(in, out, "layer_norm");
  ExecContext::Impl& impl = context.impl();
  ExecContext::Impl::Use use(impl);
  const std::int64_t rows = in.dim(0);
  const std::shared_ptr<internal::Op> op =
      impl.plan({.layer = impl_->id, .shape = {rows}}, [&] { return impl_->build(rows); });
  op->set(DNNL_ARG_SRC, in.data());
  op->set(DNNL_ARG_DST, out.data());
  impl.run(*op);
  use.finish();
}

}  // namespace av_fusion
