// Copyright 2026 The av_fusion authors. SPDX-License-Identifier: Apache-2.0
#include "av_fusion/align/verdict.h"

namespace av_fusion {

std::string_view to_string(Verdict verdict) noexcept {
  switch (verdict) {
    case Verdict::kPass: return "pass";
    case Verdict::kFail: return "fail";
    case Verdict::kUndecided: return "undecided";
  }
  return "unknown";
}

}  // namespace av_fusion
