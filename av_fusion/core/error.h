// Copyright 2026 The av_fusion authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <stdexcept>
#include <string>
#include <string_view>

namespace av_fusion {

/// What kind of thing went wrong; stable, so a host can switch on it.
enum class ErrorCode {
  kInvalidArgument,  ///< the caller passed a value outside the documented range
  kShapeMismatch,    ///< a tensor does not have the documented shape
  kNotFound,         ///< a file, stream or named tensor does not exist
  kIo,               ///< reading or writing failed
  kUnsupported,      ///< valid, but not something this build can handle
  kCorruptData,      ///< the input contradicts its own format
  kInternal,         ///< a bug in av_fusion or in a library below it
};

/// The stable name of `code`, for example "shape_mismatch".
std::string_view to_string(ErrorCode code) noexcept;

/// The only exception type that leaves av_fusion.
///
/// `what()` is one sentence "context: message"; the context names the place (a file, a tensor, a
/// layer). Findings that a user can expect of a video (no face, no speech) are not errors: see
/// `AlignmentStatus`.
class Error : public std::runtime_error {
 public:
  Error(ErrorCode code, std::string_view context, std::string_view message);

  ErrorCode code() const noexcept { return code_; }
  const std::string& context() const noexcept { return context_; }

 private:
  ErrorCode code_;
  std::string context_;
};

}  // namespace av_fusion
