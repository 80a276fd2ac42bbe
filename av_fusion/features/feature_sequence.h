// Copyright 2026 The av_fusion authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "av_fusion/core/tensor.h"
#include "av_fusion/core/timeline.h"

namespace av_fusion {

/// Features on a regular time grid: the one parcel that goes from the features room to the model.
template <typename T>
struct FeatureSequence {
  Tensor<T> values;  ///< [T, ...], row i belongs to `timeline.at(i)`
  Timeline timeline;
  std::vector<std::uint8_t> valid;  ///< [T], 1 where the row was measured, 0 where it is filler

  std::int64_t length() const noexcept { return values.dim(0); }
};

}  // namespace av_fusion
