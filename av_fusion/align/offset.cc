// Copyright 2026 The av_fusion authors. SPDX-License-Identifier: Apache-2.0
#include "av_fusion/align/offset.h"

#include <cmath>

namespace av_fusion {
namespace {

constexpr double kInSyncMs = 5;

}  // namespace

std::string_view to_string(Direction direction) noexcept {
  switch (direction) {
    case Direction::kSoundEarly: return "sound_early";
    case Direction::kSoundLate: return "sound_late";
    case Direction::kInSync: return "in_sync";
  }
  return "unknown";
}

Direction Offset::direction() const noexcept {
  if (std::abs(ms) < kInSyncMs) return Direction::kInSync;
  return ms > 0 ? Direction::kSoundEarly : Direction::kSoundLate;
}

}  // namespace av_fusion
