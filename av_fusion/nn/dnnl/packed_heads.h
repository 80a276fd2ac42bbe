// Copyright 2026 The av_fusion authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "av_fusion/core/tensor.h"
#include "av_fusion/nn/dnnl/exec_context_impl.h"
#include "av_fusion/nn/dnnl/packed_weights.h"
#include "av_fusion/nn/precision.h"

namespace av_fusion::internal {

/// A product for each head with that head's part of a projection W [H * head_dim, width], which is
/// packed once. Shapes are the caller's business.
class PackedHeads {
 public:
  enum class Direction {
    kToInput,   ///< head_dim to width: y_h = x_h W_h; x [rows, H * head_dim], y [H, rows, width]
    kToTokens,  ///< width to head_dim: y_h = x_h W_h^T; x [H, rows, width], y [rows, H * head_dim]
  };

  PackedHeads(std::string_view layer, const Tensor<float>& weight, std::int64_t num_heads,
              Direction direction, Precision operands, Precision result);

  void run(ExecContext::Impl& context, const void* src, std::int64_t rows, void* dst) const;

 private:
  dnnl::memory::dims weight_dims() const;
  OperandDescs descs(std::int64_t rows) const;
  std::string text(std::int64_t rows) const;
  dnnl::matmul::primitive_desc describe(std::int64_t rows) const;
  std::shared_ptr<Op> build(std::int64_t rows) const;

  std::uint64_t id_ = next_layer_id();
  std::string layer_;
  std::int64_t heads_;
  std::int64_t head_dim_;
  std::int64_t width_;
  Direction direction_;
  Precision operands_;
  Precision result_;
  mutable PackedWeights weights_;
};

}  // namespace av_fusion::internal
