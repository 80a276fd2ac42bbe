// Copyright 2026 The av_fusion authors. SPDX-License-Identifier: Apache-2.0
#pragma once

namespace av_fusion {

/// The function that a layer applies to its result.
enum class Activation {
  kNone,
  kRelu,
  kGelu,  ///< x * Phi(x) with the error function, as torch.nn.GELU()
};

}  // namespace av_fusion
