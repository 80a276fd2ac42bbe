// Copyright 2026 The av_fusion authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "av_fusion/core/error.h"
#include "av_fusion/core/tensor_view.h"
#include "av_fusion/nn/activation.h"
#include "av_fusion/nn/layer_norm.h"

// What the blocks (feed_forward.h, conv_block.h and so on) share.
namespace av_fusion::internal {

/// The width of a normalisation, which is the width of the block that begins with it.
inline std::int64_t checked_dim(const LayerNorm::Params& norm, std::string_view name) {
  expect_shape(norm.scale.shape(), {kAny}, std::string(name) + " scale");
  return norm.scale.dim(0);
}

/// Sets the activation that the block's formula has; a caller may leave it out, but not ask for
/// another one.
inline void set_activation(Activation& activation, Activation wanted, std::string_view name) {
  if (activation != Activation::kNone && activation != wanted) {
    throw Error(ErrorCode::kInvalidArgument, name,
                "the block has its own activation; leave it at kNone");
  }
  activation = wanted;
}

/// Throws unless `lengths` is empty or has one entry of 0 to `steps` for each of `batch` sequences.
inline void check_lengths(std::span<const std::int64_t> lengths, std::int64_t batch,
                          std::int64_t steps, std::string_view layer) {
  if (lengths.empty()) return;
  if (static_cast<std::int64_t>(lengths.size()) != batch) {
    throw Error(ErrorCode::kInvalidArgument, layer,
                "lengths has " + std::to_string(lengths.size()) + " entries for a batch of " +
                    std::to_string(batch));
  }
  for (const std::int64_t length : lengths) {
    if (length < 0 || length > steps) {
      throw Error(
          ErrorCode::kInvalidArgument, layer,
          "a length of " + std::to_string(length) + " is outside of 0 to " + std::to_string(steps));
    }
  }
}

/// The rows [B * T, D] of `sequences` [B, T, D], which is dense.
template <typename T>
TensorView<T> rows_of(const TensorView<T>& sequences) {
  return {sequences.data(), {sequences.dim(0) * sequences.dim(1), sequences.dim(2)}};
}

}  // namespace av_fusion::internal
