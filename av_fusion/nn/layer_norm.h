// Copyright 2026 The av_fusion authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "av_fusion/core/tensor.h"
#include "av_fusion/nn/exec_context.h"

namespace av_fusion {

/// y = (x - mean) / sqrt(var + epsilon) * scale + shift over the last axis, as torch.nn.LayerNorm.
/// Immutable and safe to share between threads.
class LayerNorm {
 public:
  struct Params {
    Tensor<float> scale;  ///< [D]
    Tensor<float> shift;  ///< [D]
    float epsilon = 1e-5f;
  };

  explicit LayerNorm(Params params);
  ~LayerNorm();
  LayerNorm(LayerNorm&&) noexcept;
  LayerNorm& operator=(LayerNorm&&) noexcept;

  std::int64_t dim() const noexcept;

  /// `in` and `out` [N, D], dense; may be the same memory.
  void forward(ExecContext& context, TensorView<const float> in, TensorView<float> out) const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace av_fusion
