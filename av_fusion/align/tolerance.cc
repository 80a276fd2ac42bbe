// Copyright 2026 The av_fusion authors. SPDX-License-Identifier: Apache-2.0
#include "av_fusion/align/tolerance.h"

#include <charconv>
#include <cmath>
#include <vector>

#include "av_fusion/core/error.h"

namespace av_fusion {
namespace {

/// A finite decimal number that fills all of `text`; a leading plus is allowed.
std::optional<double> parse_number(std::string_view text) {
  if (text.starts_with('+')) {
    text.remove_prefix(1);
    if (text.starts_with('-')) return std::nullopt;
  }
  double value = 0;
  const char* end = text.data() + text.size();
  const auto result = std::from_chars(text.data(), end, value);
  if (result.ec != std::errc() || result.ptr != end || !std::isfinite(value)) return std::nullopt;
  return value;
}

[[noreturn]] void refuse(std::string_view text) {
  std::string names;
  for (const Tolerance& known : named_tolerances()) names += known.name + ", ";
  throw Error(ErrorCode::kInvalidArgument, "tolerance",
              "\"" + std::string(text) + "\" is neither one of " + names +
                  "nor EARLY,LATE in ms such as 45,-125");
}

}  // namespace

std::span<const Tolerance> named_tolerances() {
  static const std::vector<Tolerance> kTolerances = {
      {"itu-r-bt1359", "ITU-R BT.1359-1 (1998), detectability", 45, -125},
      {"itu-r-bt1359-acceptability", "ITU-R BT.1359-1 (1998), acceptability", 90, -185},
      {"ebu-r37", "EBU R37 (2007), output feeding transmitters", 40, -60},
      {"atsc-is191", "ATSC IS-191 (2003), input of the encoder", 15, -45},
  };
  return kTolerances;
}

std::optional<Tolerance> find_tolerance(std::string_view name) {
  for (const Tolerance& known : named_tolerances()) {
    if (known.name == name) return known;
  }
  return std::nullopt;
}

Tolerance parse_tolerance(std::string_view text) {
  if (std::optional<Tolerance> known = find_tolerance(text)) return *std::move(known);
  const std::size_t comma = text.find(',');
  if (comma == std::string_view::npos) refuse(text);
  const std::optional<double> early = parse_number(text.substr(0, comma));
  const std::optional<double> late = parse_number(text.substr(comma + 1));
  if (!early || !late || *early < 0) refuse(text);
  return {"custom", "given by the user", *early + 0.0, 0.0 - std::abs(*late)};
}

Verdict judge(const Offset& offset, const Tolerance& tolerance) noexcept {
  if (offset.low_ms >= tolerance.late_ms && offset.high_ms <= tolerance.early_ms) {
    return Verdict::kPass;
  }
  if (offset.low_ms > tolerance.early_ms || offset.high_ms < tolerance.late_ms) {
    return Verdict::kFail;
  }
  return Verdict::kUndecided;
}

}  // namespace av_fusion
