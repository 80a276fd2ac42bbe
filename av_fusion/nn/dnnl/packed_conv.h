// Copyright 2026 The av_fusion authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "av_fusion/core/tensor.h"
#include "av_fusion/nn/activation.h"
#include "av_fusion/nn/dnnl/exec_context_impl.h"
#include "av_fusion/nn/dnnl/packed_weights.h"

namespace av_fusion::internal {

/// A convolution over one or two axes, channels last, with weights packed once; what `Conv1d` and
/// `Conv2d` are made of.
class PackedConv {
 public:
  struct Params {
    std::string_view layer;  ///< for errors
    Tensor<float> weight;    ///< [out_channels, in_channels, kernel...], one or two kernel axes
    Tensor<float> bias;      ///< [out_channels], or empty
    int stride = 1;
    int dilation = 1;
    int padding = 0;
    Activation activation = Activation::kNone;
  };

  /// Throws `Error` on shapes that disagree and steps below 1.
  explicit PackedConv(Params params);

  std::int64_t in_channels() const noexcept { return in_; }
  std::int64_t out_channels() const noexcept { return out_; }

  /// Result length for an input length along kernel axis `axis`; 0 if the kernel does not fit.
  std::int64_t out_extent(int axis, std::int64_t extent) const noexcept;

  /// `in` [B, extents..., in_channels], `out` [B, out extents..., out_channels]. An empty `out`
  /// does nothing. Throws `Error` if the views do not agree with the layer.
  void forward(ExecContext& context, TensorView<const float> in, TensorView<float> out) const;

 private:
  OperandDescs descs(const Shape& in) const;
  std::string text(const Shape& in) const;
  Shape out_shape(const Shape& in) const;
  Shape typical_input() const;
  dnnl::convolution_forward::primitive_desc describe(const Shape& in) const;
  std::shared_ptr<Op> build(const Shape& in) const;

  std::uint64_t id_ = next_layer_id();
  std::string layer_;
  std::int64_t in_ = 0;
  std::int64_t out_ = 0;
  Shape weight_shape_;
  int stride_;
  int dilation_;
  int padding_;
  Activation activation_;
  Tensor<float> bias_;
  mutable PackedWeights weights_;
};

}  // namespace av_fusion::internal
