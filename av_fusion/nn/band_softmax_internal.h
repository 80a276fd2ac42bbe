// Copyright 2026 The av_fusion authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace av_fusion::internal {

/// Softmax over row[begin, end), in place; the rest of row[0, size) becomes 0. An empty range gives
/// a row of zeros. The maximum is subtracted first, so large scores are safe. Accurate to 2e-7
/// relative to the largest weight.
void softmax_in_range(float* row, std::int64_t size, std::int64_t begin, std::int64_t end);

}  // namespace av_fusion::internal
