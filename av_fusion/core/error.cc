// Copyright 2026 The av_fusion authors. SPDX-License-Identifier: Apache-2.0
#include "av_fusion/core/error.h"

namespace av_fusion {
namespace {

std::string join(std::string_view context, std::string_view message) {
  std::string text(context);
  if (!text.empty()) text += ": ";
  text += message;
  return text;
}

}  // namespace

std::string_view to_string(ErrorCode code) noexcept {
  switch (code) {
    case ErrorCode::kInvalidArgument: return "invalid_argument";
    case ErrorCode::kShapeMismatch: return "shape_mismatch";
    case ErrorCode::kNotFound: return "not_found";
    case ErrorCode::kIo: return "io";
    case ErrorCode::kUnsupported: return "unsupported";
    case ErrorCode::kCorruptData: return "corrupt_data";
    case ErrorCode::kInternal: return "internal";
  }
  return "unknown";
}

Error::Error(ErrorCode code, std::string_view context, std::string_view message)
    : std::runtime_error(join(context, message)), code_(code), context_(context) {}

}  // namespace av_fusion
