// Copyright 2026 The av_fusion authors. SPDX-License-Identifier: Apache-2.0
#include "av_fusion/nn/linear.h"

#include <utility>

#include "av_fusion/nn/dnnl/packed_matmul.h"
#include "av_fusion/nn/validate_internal.h"

namespace av_fusion {
namespace {

Linear::Params checked(Linear::Params params) {
  if (params.weight.empty()) {
    throw Error(ErrorCode::kInvalidArgument, "linear", "the weight is empty");
  }
  expect_shape(params.weight.shape(), {kAny, kAny}, "linear weight");
  if (!params.bias.empty()) {
    expect_shape(params.bias.shape(), {params.weight.dim(0)}, "linear bias");
  }
  return params;
}

}  // namespace

class Linear::Impl {
 public:
  explicit Impl(Params params)
      : activation(params.activation),
        matmul("linear", params.weight, std::move(params.bias), {.activation = params.activation}) {}

  Activation activation;
  internal::PackedMatmul matmul;
};

Linear::Linear(Params params) : impl_(std::make_unique<Impl>(checked(std::move(params)))) {}
Linear::~Linear() = default;
Linear::Linear(Linear&&) noexcept = default;
Linear& Linear::operator=(Linear&&) noexcept = default;

std::int64_t Linear::in_features() const noexcept { return impl_->matmul.in_features(); }
std::int64_t Linear::out_features() const noexcept { return impl_->matmul.out_features(); }

void Linear::forward(ExecContext& context, TensorView<const float> in, TensorView<float> out,
                     bool accumulate) const {
  internal::expect_operand(in, {kAny, in_features()}, "linear", "input");
  internal::expect_operand(out, {in.dim(0), out_features()}, "linear", "output");
  if (accumulate && impl_->activation != Activation::kNone) {
    throw Error(ErrorCode::kInvalidArgument, "linear",
                "accumulate needs a layer without activation");
  }
  if (in.empty()) return;
  internal::expect_disjoint(in, out, "linear");
  ExecContext::Impl::Use use(context.impl());
  impl_->matmul.run(context.impl(), in.data(), in.dim(0), out.data(), accumulate);
  use.finish();
}

}  // namespace av_fusion
