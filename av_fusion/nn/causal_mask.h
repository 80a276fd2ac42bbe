// Copyright 2026 The av_fusion authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace av_fusion {

/// Query i may see key j where j <= i * stride + offset. The default is the mask of
/// self-attention that does not look ahead, `is_causal` of PyTorch.
///
/// With `stride` keys in the time of one query, an `offset` of stride - 1 lets a query see the
/// keys of its own time.
struct CausalMask {
  std::int64_t stride = 1;  ///< >= 0
  std::int64_t offset = 0;
};

}  // namespace av_fusion
