// Copyright 2026 The av_fusion authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "av_fusion/core/tensor.h"
#include "av_fusion/nn/activation.h"
#include "av_fusion/nn/dnnl/exec_context_impl.h"
#include "av_fusion/nn/dnnl/packed_weights.h"
#include "av_fusion/nn/precision.h"

namespace av_fusion::internal {

/// Appends `activation` to `ops`.
void append_activation(dnnl::post_ops& ops, Activation activation);

/// The element type of operands of matrix products.
dnnl::memory::data_type operand_type(Precision precision);
std::int64_t operand_bytes(Precision precision);

/// dst = act(src W^T + bias) [+ dst] with W packed once; what `Linear` and the projections of
/// attention are made of. Shapes are the caller's business: nothing is checked here.
class PackedMatmul {
 public:
  struct Options {
    Activation activation = Activation::kNone;
    Precision operands = Precision::kF32;  ///< element type of src and packed weights
    Precision result = Precision::kF32;    ///< element type of dst
  };

  /// `weight` [out, in], `bias` [out] or empty; `layer` names the layer in errors.
  PackedMatmul(std::string_view layer, const Tensor<float>& weight, Tensor<float> bias,
               const Options& options);

  std::int64_t in_features() const noexcept { return in_; }
  std::int64_t out_features() const noexcept { return out_; }

  /// `src` [rows, in] and `dst` [rows, out], dense; rows >= 1.
  void run(ExecContext::Impl& context, const void* src, std::int64_t rows, void* dst,
           bool accumulate = false) const;

 private:
  dnnl::matmul::primitive_desc describe(std::int64_t rows, bool accumulate) const;
  std::shared_ptr<Op> build(std::int64_t rows, bool accumulate) const;
  std::string text(std::int64_t rows) const;
  OperandDescs descs(std::int64_t rows) const;

  std::uint64_t id_ = next_layer_id();
  std::string layer_;
  std::int64_t in_;
  std::int64_t out_;
  Options options_;
  Tensor<float> bias_;
  mutable PackedWeights weights_;
};

}  // namespace av_fusion::internal
