// Copyright 2026 The av_fusion authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

namespace av_fusion {

enum class Direction { kSoundEarly, kSoundLate, kInSync };

/// "sound_early", "sound_late", "in_sync".
std::string_view to_string(Direction direction) noexcept;

/// A measured audio-video offset.
///
/// Sign of ITU-R BT.1359-1: `ms` > 0 means the sound comes before the picture it belongs to (sound
/// early), < 0 means sound late. Delaying the sound by `ms` corrects it.
struct Offset {
  double ms = 0;
  double low_ms = 0;      ///< lower end of the 95 % interval
  double high_ms = 0;     ///< upper end of the 95 % interval
  double confidence = 0;  ///< calibrated probability that the true offset is within 40 ms of `ms`

  /// `kInSync` if |ms| < 5, which is less than anybody can perceive or we can measure on one clip.
  Direction direction() const noexcept;
};

}  // namespace av_fusion
