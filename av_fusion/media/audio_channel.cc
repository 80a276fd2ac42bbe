// Copyright 2026 The av_fusion authors. SPDX-License-Identifier: Apache-2.0
#include "av_fusion/media/audio_channel.h"

#include <algorithm>
#include <charconv>

#include "av_fusion/core/error.h"
#include "av_fusion/core/in_quotes.h"

namespace av_fusion {
namespace {

constexpr std::size_t kLongestName = 16;

bool is_digit(char c) { return c >= '0' && c <= '9'; }

std::string capitals(std::string_view text) {
  std::string result(text);
  for (char& c : result) {
    if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
  }
  return result;
}

bool is_name(const std::string& text) {
  return !text.empty() && text.size() <= kLongestName &&
         std::all_of(text.begin(), text.end(),
                     [](char c) { return is_digit(c) || (c >= 'A' && c <= 'Z'); });
}

[[noreturn]] void refuse(std::string_view text) {
  throw Error(ErrorCode::kInvalidArgument, "audio channel " + in_quotes(text),
              "auto, downmix, difference, a number from 0, or a name such as FC is needed");
}

}  // namespace

AudioChannel AudioChannel::parse(std::string_view text) {
  AudioChannel result;
  const std::string word = capitals(text);
  if (!is_name(word)) refuse(text);
  if (word == "AUTO") {
    result.kind = Kind::kAutomatic;
  } else if (word == "DOWNMIX") {
    result.kind = Kind::kDownmix;
  } else if (word == "DIFFERENCE") {
    result.kind = Kind::kDifference;
  } else if (std::all_of(word.begin(), word.end(), is_digit)) {
    result.kind = Kind::kNumber;
    const auto [end, error] =
        std::from_chars(word.data(), word.data() + word.size(), result.number);
    if (error != std::errc()) refuse(text);
  } else {
    result.kind = Kind::kName;
    result.name = word;
  }
  return result;
}

std::string AudioChannel::to_string() const {
  switch (kind) {
    case Kind::kAutomatic: return "auto";
    case Kind::kDownmix: return "downmix";
    case Kind::kDifference: return "difference";
    case Kind::kNumber: return std::to_string(number);
    case Kind::kName: break;
  }
  return name;
}

}  // namespace av_fusion
