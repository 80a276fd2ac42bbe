// Copyright 2026 The av_fusion authors. SPDX-License-Identifier: Apache-2.0
#include "av_fusion/nn/feed_forward.h"

#include <utility>

#include "av_fusion/nn/block_internal.h"
#include "av_fusion/nn/dnnl/exec_context_impl.h"
#include "av_fusion/nn/validate_internal.h"

namespace av_fusion {
namespace {

FeedForward::Params checked(FeedForward::Params params) {
  const std::int64_t dim = internal::checked_dim(params.norm, "feed_forward norm");
  expect_shape(params.up.weight.shape(), {kAny, dim}, "feed_forward up weight");
  expect_shape(params.down.weight.shape(), {dim, params.up.weight.dim(0)},
               "feed_forward down weight");
  internal::set_activation(params.up.activation, Activation::kGelu, "feed_forward up");
  internal::set_activation(params.down.activation, Activation::kNone, "feed_forward down");
  return params;
}

}  // namespace

class FeedForward::Impl {
 public:
  explicit Impl(Params params)
      : norm(std::move(params.norm)), up(std::move(params.up)), down(std::move(params.down)) {}

  LayerNorm norm;
  Linear up;
  Linear down;
};

FeedForward::FeedForward(Params params)
    : impl_(std::make_unique<Impl>(checked(std::move(params)))) {}
FeedForward::~FeedForward() = default;
FeedForward::FeedForward(FeedForward&&) noexcept = default;
FeedForward& FeedForward::operator=(FeedForward&&) noexcept = default;

std::int64_t FeedForward::dim() const noexcept { return impl_->norm.dim(); }

void FeedForward::forward(ExecContext& context, TensorView<float> x) const {
  using Frame = ExecContext::Impl::Frame;
  internal::expect_operand(x, {kAny, dim()}, "feed_forward", "input");
  if (x.empty()) return;
  const Shape hidden_shape{x.dim(0), impl_->up.out_features()};
  Frame memory(context.impl(),
               Frame::rounded(x.num_elements()) + Frame::rounded(hidden_shape.num_elements()));
  const TensorView<float> normed(memory.take(x.num_elements()), x.shape());
  const TensorView<float> hidden(memory.take(hidden_shape.num_elements()), hidden_shape);
  impl_->norm.forward(context, x, normed);
  impl_->up.forward(context, normed, hidden);
  impl_->down.forward(context, hidden, x, /*accumulate=*/true);
}

}  // namespace av_fusion
