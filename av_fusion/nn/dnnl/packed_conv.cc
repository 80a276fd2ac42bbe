// Copyright 2026 The av_fusion authors. SPDX-License-Identifier: Apache-2.0
#include "av_fusion/nn/dnnl/packed_conv.h"

#include <array>
#include <utility>

#include "av_fusion/nn/dnnl/packed_matmul.h"
#include "av_fusion/nn/validate_internal.h"

namespace av_fusion::internal {
namespace {

void expect_at_least(int value, int least, std::string_view layer, std::string_view name) {
  if (value >= least) return;
  throw Error(ErrorCode::kInvalidArgument, layer,
              std::string(name) + " must be at least " + std::to_string(least) + ", got " +
                  std::to_string(value));
}

const PackedConv::Params& checked(const PackedConv::Params& params) {
  const std::string layer(params.layer);
  if (params.weight.empty()) {
    throw Error(ErrorCode::kInvalidArgument, layer, "the weight is empty");
  }
  if (!params.bias.empty()) {
    expect_shape(params.bias.shape(), {params.weight.dim(0)}, layer + " bias");
  }
  expect_at_least(params.stride, 1, layer, "stride");
  expect_at_least(params.dilation, 1, layer, "dilation");
  expect_at_least(params.padding, 0, layer, "padding");
  return params;
}

Shape with_rank(const std::array<std::int64_t, Shape::kMaxRank>& extents, int rank) {
  return Shape(std::span<const std::int64_t>(extents.data(), static_cast<std::size_t>(rank)));
}

// Extents [B, spatial..., C] as oneDNN counts them, [B, C, spatial...], over channels-last memory.
dnnl::memory::desc channels_last(const Shape& shape) {
  const Shape steps = shape.dense_strides();
  const int last = shape.rank() - 1;
  dnnl::memory::dims dims{shape[0], shape[last]};
  dnnl::memory::dims strides{steps[0], steps[last]};
  for (int axis = 1; axis < last; ++axis) {
    dims.push_back(shape[axis]);
    strides.push_back(steps[axis]);
  }
  return strided_f32(dims, strides);
}

dnnl::memory::dims to_dims(const Shape& shape) {
  return {shape.extents().begin(), shape.extents().end()};
}

}  // namespace

PackedConv::PackedConv(Params params)
    : layer_(checked(params).layer),
      in_(params.weight.dim(1)),
      out_(params.weight.dim(0)),
      weight_shape_(params.weight.shape()),
      stride_(params.stride),
      dilation_(params.dilation),
      padding_(params.padding),
      activation_(params.activation),
      bias_(std::move(params.bias)),
      weights_(layer_, params.weight.data(), dense_f32(to_dims(weight_shape_)),
               describe(typical_input()).weights_desc()) {}

std::int64_t PackedConv::out_extent(int axis, std::int64_t extent) const noexcept {
  const std::int64_t reach = dilation_ * (weight_shape_[axis + 2] - 1) + 1;
  const std::int64_t room = extent + 2 * std::int64_t{padding_} - reach;
  return room < 0 ? 0 : room / stride_ + 1;
}

Shape PackedConv::out_shape(const Shape& in) const {
  std::array<std::int64_t, Shape::kMaxRank> extents{};
  const int last = in.rank() - 1;
  extents[0] = in[0];
  for (int axis = 1; axis < last; ++axis) {
    extents[static_cast<std::size_t>(axis)] = out_extent(axis - 1, in[axis]);
  }
  extents[static_cast<std::size_t>(last)] = out_;
  return with_rank(extents, in.rank());
}

// The shape for which the weights are packed in advance; only speed depends on it.
Shape PackedConv::typical_input() const {
  constexpr std::int64_t kSteps = 32;
  std::array<std::int64_t, Shape::kMaxRank> extents{};
  const int rank = weight_shape_.rank();
  extents[0] = 1;
  for (int axis = 2; axis < rank; ++axis) {
    extents[static_cast<std::size_t>(axis - 1)] = dilation_ * weight_shape_[axis] + kSteps;
  }
  extents[static_cast<std::size_t>(rank - 1)] = in_;
  return with_rank(extents, rank);
}

OperandDescs PackedConv::descs(const Shape& in) const {
  return {channels_last(in), any_f32(to_dims(weight_shape_)),
          bias_.empty() ? dnnl::memory::desc() : dense_f32({out_}), channels_last(out_shape(in))};
}

std::string PackedConv::text(const Shape& in) const {
  return "convolution of " + in.to_string() + " with weight " + weight_shape_.to_string();
}

dnnl::convolution_forward::primitive_desc PackedConv::describe(const Shape& in) const {
  return with_dnnl_errors(layer_, text(in), [&] {
    const auto axes = static_cast<std::size_t>(weight_shape_.rank() - 2);
    const ConvGeometry geometry{.stride = dnnl::memory::dims(axes, stride_),
                                .dilation = dnnl::memory::dims(axes, dilation_),
                                .padding = dnnl::memory::dims(axes, padding_)};
    dnnl::post_ops ops;
    append_activation(ops, activation_);
    return make_conv(cpu_engine(), descs(in), geometry, inference_attr(ops));
  });
}

std::shared_ptr<Op> PackedConv::build(const Shape& in) const {
  const dnnl::convolution_forward::primitive_desc pd = describe(in);
  return with_dnnl_errors(layer_, text(in), [&] {
    auto op =
        std::make_shared<Op>(layer_, text(in), dnnl::convolution_forward(pd), pd.scratchpad_desc());
    const OperandDescs at = descs(in);
    op->bind(DNNL_ARG_SRC, at.src);
    op->bind(DNNL_ARG_WEIGHTS, pd.weights_desc(), weights_.packed_as(pd.weights_desc()));
    op->bind(DNNL_ARG_BIAS, at.bias, bias_.data());
    op->bind(DNNL_ARG_DST, at.dst);
    return op;
  });
}

void PackedConv::forward(ExecContext& context, TensorView<const float> in,
                         TensorView<float> out) const {
  std::array<std::int64_t, Shape::kMaxRank> expected{};
  expected.fill(kAny);
  const int rank = weight_shape_.rank();
  expected[static_cast<std::size_t>(rank - 1)] = in_;
  expect_operand(in, with_rank(expected, rank), layer_, "input");
  expect_operand(out, out_shape(in.shape()), layer_, "output");
  if (out.empty()) return;
  if (in.empty()) {
    throw Error(ErrorCode::kInvalidArgument, layer_,
                "the input " + in.shape().to_string() + " has no steps");
  }
  expect_disjoint(in, out, layer_);

  ExecContext::Impl& impl = context.impl();
  ExecContext::Impl::Use use(impl);
  PlanKey key{.layer = id_};
  for (int axis = 0; axis < rank - 1; ++axis) {
    key.shape[static_cast<std::size_t>(axis)] = in.dim(axis);
  }
  const std::shared_ptr<Op> op = impl.plan(key, [&] { return build(in.shape()); });
  op->set(DNNL_ARG_SRC, in.data());
  op->set(DNNL_ARG_DST, out.data());
  impl.run(*op);
  use.finish();
}

}  // namespace av_fusion::internal
