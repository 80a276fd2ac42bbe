// Copyright 2026 The av_fusion authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>

namespace av_fusion {

/// The probability that belongs to `log_odds`.
inline double sigmoid(double log_odds) noexcept { return 1 / (1 + std::exp(-log_odds)); }

}  // namespace av_fusion
