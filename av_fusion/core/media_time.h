// Copyright 2026 The av_fusion authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <compare>
#include <cstdint>

namespace av_fusion {

/// A length of time in whole microseconds; may be negative.
struct MediaDuration {
  std::int64_t us = 0;

  static constexpr MediaDuration from_ms(double ms) { return from_seconds(ms * 1e-3); }
  static constexpr MediaDuration from_seconds(double s) {
    return {static_cast<std::int64_t>(s * 1e6 + (s < 0 ? -0.5 : 0.5))};
  }
  constexpr double seconds() const { return static_cast<double>(us) / 1e6; }
  constexpr double ms() const { return static_cast<double>(us) / 1e3; }

  friend constexpr auto operator<=>(MediaDuration, MediaDuration) = default;
  friend constexpr MediaDuration operator+(MediaDuration a, MediaDuration b) {
    return {a.us + b.us};
  }
  friend constexpr MediaDuration operator-(MediaDuration a, MediaDuration b) {
    return {a.us - b.us};
  }
  friend constexpr MediaDuration operator-(MediaDuration a) { return {-a.us}; }
  friend constexpr MediaDuration operator*(MediaDuration a, std::int64_t n) { return {a.us * n}; }
};

/// A point on a file's presentation timeline, in whole microseconds. Zero is the container's zero,
/// not the first frame; negative times exist (a wrapped transport stream starts at -3 s).
///
/// Points and lengths are different types: point - point = length, point + length = point, and
/// point + point does not compile.
struct MediaTime {
  std::int64_t us = 0;

  static constexpr MediaTime from_seconds(double s) { return {MediaDuration::from_seconds(s).us}; }
  constexpr double seconds() const { return static_cast<double>(us) / 1e6; }

  friend constexpr auto operator<=>(MediaTime, MediaTime) = default;
  friend constexpr MediaDuration operator-(MediaTime a, MediaTime b) { return {a.us - b.us}; }
  friend constexpr MediaTime operator+(MediaTime a, MediaDuration d) { return {a.us + d.us}; }
  friend constexpr MediaTime operator-(MediaTime a, MediaDuration d) { return {a.us - d.us}; }
};

}  // namespace av_fusion
