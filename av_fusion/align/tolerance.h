// Copyright 2026 The av_fusion authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "av_fusion/align/offset.h"
#include "av_fusion/align/verdict.h"

namespace av_fusion {

/// How early and how late sound may be. The limits themselves are allowed.
struct Tolerance {
  std::string name;
  std::string source;   ///< the document the limits come from
  double early_ms = 0;  ///< >= 0, sound early
  double late_ms = 0;   ///< <= 0, sound late
};

/// All named tolerances. The span lives as long as the program.
std::span<const Tolerance> named_tolerances();

/// The named tolerance, or nothing.
std::optional<Tolerance> find_tolerance(std::string_view name);

/// A name, or "EARLY,LATE" in ms. The late limit may be written with its sign or as an amount:
/// "45,-125" and "45,125" both allow sound from 45 ms early to 125 ms late. Throws
/// `Error(kInvalidArgument)` listing what is understood.
Tolerance parse_tolerance(std::string_view text);

/// Compares the interval, not the point: `kPass` if all of it lies inside the limits, `kFail` if
/// all of it lies outside, else `kUndecided`.
Verdict judge(const Offset& offset, const Tolerance& tolerance) noexcept;

}  // namespace av_fusion
