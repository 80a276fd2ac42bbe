// Copyright 2026 The av_fusion authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "av_fusion/core/error.h"

namespace av_fusion {

/// An `Error` as a value, for hosts that do without exceptions.
struct AlignFailure {
  ErrorCode code = ErrorCode::kInternal;
  std::string message;  ///< as `Error::what()`; empty if there was no memory for it
};

}  // namespace av_fusion
