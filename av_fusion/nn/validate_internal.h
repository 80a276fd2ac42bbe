// Copyright 2026 The av_fusion authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "av_fusion/core/error.h"
#include "av_fusion/core/shape.h"
#include "av_fusion/core/tensor_view.h"

namespace av_fusion::internal {

/// Throws unless `view` has the shape `expected`, is dense, and has memory unless it is empty.
/// The name is "`layer` `operand`"; it is put together on failure only.
template <typename T>
void expect_operand(const TensorView<T>& view, const Shape& expected, std::string_view layer,
                    std::string_view operand) {
  bool same = view.rank() == expected.rank();
  for (int axis = 0; same && axis < expected.rank(); ++axis) {
    same = expected[axis] == kAny || expected[axis] == view.dim(axis);
  }
  if (same && view.is_dense() && (view.data() != nullptr || view.empty())) return;
  const std::string name = std::string(layer) + " " + std::string(operand);
  expect_shape(view.shape(), expected, name);
  throw Error(ErrorCode::kInvalidArgument, name,
              view.is_dense() ? "the view has no memory" : "the view is not dense");
}

/// Throws if the two views share memory.
inline void expect_disjoint(const TensorView<const float>& in, const TensorView<const float>& out,
                            std::string_view layer) {
  const float* in_end = in.data() + in.num_elements();
  const float* out_end = out.data() + out.num_elements();
  if (in.data() < out_end && out.data() < in_end) {
    throw Error(ErrorCode::kInvalidArgument, layer, "input and output overlap");
  }
}

}  // namespace av_fusion::internal
