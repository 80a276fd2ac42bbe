// Copyright 2026 The av_fusion authors. SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>

#include "av_fusion/part_plan_internal.h"

namespace av_fusion {
namespace {

// Long enough for faces to be found and for decoding from the key picture before not to matter.
constexpr MediaDuration kPartLength = MediaDuration::from_seconds(12);
constexpr MediaDuration kShortFile = MediaDuration::from_seconds(120);
constexpr std::int64_t kShare = 8;
constexpr double kSureConfidence = 0.9;
constexpr double kNarrowMs = 80;

/// The lowest `bits` bits of `value` in the other order: 0, 4, 2, 6, 1, 5, 3, 7 for three.
std::uint64_t reversed(std::uint64_t value, int bits) {
  std::uint64_t result = 0;
  for (int bit = 0; bit < bits; ++bit) result |= (value >> bit & 1) << (bits - 1 - bit);
  return result;
}

}  // namespace

std::vector<AnalysedPart> spread_parts(MediaDuration length) {
  if (length < kShortFile) return {};
  const auto fitting = static_cast<std::uint64_t>(length.us / (kShare * kPartLength.us));
  const std::uint64_t count = std::bit_floor(std::max<std::uint64_t>(fitting, kFewestParts));
  const int bits = std::countr_zero(count);
  std::vector<AnalysedPart> parts;
  for (std::uint64_t i = 0; i < count; ++i) {
    const double place =
        (static_cast<double>(reversed(i, bits)) + 0.5) / static_cast<double>(count);
    const auto middle = std::llround(place * length.ms());
    const MediaDuration start = MediaDuration{middle * 1000 - kPartLength.us / 2};
    parts.push_back({start, start + kPartLength});
  }
  return parts;
}

bool is_settled(const std::optional<Offset>& offset, const std::optional<Tolerance>& tolerance) {
  if (!offset || offset->confidence < kSureConfidence) return false;
  if (tolerance) return judge(*offset, *tolerance) != Verdict::kUndecided;
  return offset->high_ms - offset->low_ms <= kNarrowMs;
}

}  // namespace av_fusion
