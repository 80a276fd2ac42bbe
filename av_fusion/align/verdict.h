// Copyright 2026 The av_fusion authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

namespace av_fusion {

/// How an interval compares with a tolerance.
enum class Verdict { kPass, kFail, kUndecided };

/// "pass", "fail", "undecided".
std::string_view to_string(Verdict verdict) noexcept;

}  // namespace av_fusion
