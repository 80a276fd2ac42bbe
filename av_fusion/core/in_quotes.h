// Copyright 2026 The av_fusion authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>

namespace av_fusion {

/// `text` from a file that is not trusted, for an error message: in quotation marks, cut to a
/// readable length, control characters replaced.
inline std::string in_quotes(std::string_view text) {
  constexpr std::size_t kMaxLength = 100;
  std::size_t length = std::min(text.size(), kMaxLength);
  // Not in the middle of a UTF-8 character.
  while (length > 0 && length < text.size() && (text[length] & 0xc0) == 0x80) --length;
  std::string result = "\"";
  for (const char c : text.substr(0, length)) {
    result += static_cast<unsigned char>(c) < 0x20 || c == 0x7f ? '?' : c;
  }
  return result + (length < text.size() ? "...\"" : "\"");
}

}  // namespace av_fusion
