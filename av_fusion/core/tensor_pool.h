// Copyright 2026 The av_fusion authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>

#include "av_fusion/core/tensor.h"

namespace av_fusion {

/// Makes tensors of one shape after the other, such as the pictures of a film, out of the memory
/// that earlier ones of the same size gave back: the system need not find and clear it each time.
///
/// Keeps at most `FreeBlocks::kCapacity` tensors' memory, none but of the latest size. Tensors may
/// outlive the pool and may be destroyed on any thread; `take` is for one thread at a time.
template <typename T>
class TensorPool {
 public:
  /// A tensor whose elements are not set. Throws as the tensor's constructor does.
  Tensor<T> take(const Shape& shape) {
    const auto bytes = static_cast<std::size_t>(shape.num_elements()) * sizeof(T);
    if (blocks_ == nullptr || blocks_->block_bytes() != bytes) {
      blocks_ = std::make_shared<FreeBlocks>(bytes);
    }
    return Tensor<T>(shape, blocks_);
  }

 private:
  std::shared_ptr<FreeBlocks> blocks_;
};

}  // namespace av_fusion
