// Copyright 2026 The av_fusion authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <charconv>
#include <string>

namespace av_fusion {

/// `value` with a fixed number of decimals and a point, whatever the locale; never "-0".
inline std::string format_fixed(double value, int decimals) {
  char buffer[400];  // the longest double has 309 digits before the point
  const auto result =
      std::to_chars(buffer, buffer + sizeof buffer, value, std::chars_format::fixed, decimals);
  std::string text(buffer, result.ptr);
  const bool is_zero = text.find_first_not_of("-0.") == std::string::npos;
  if (is_zero && text.front() == '-') text.erase(0, 1);
  return text;
}

}  // namespace av_fusion
