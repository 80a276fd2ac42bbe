// Copyright 2026 The av_fusion authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <string_view>

namespace av_fusion {

/// What a thread of an alignment is busy with.
enum class Stage {
  kLoad,          ///< models of faces
  kDecode,        ///< reading and decoding, pictures to luma, sound to 16 kHz
  kDetect,        ///< where faces are
  kLandmarks,     ///< their 68 points
  kCrop,          ///< mouth pictures
  kMel,           ///< spectrogram, and what of it is speech
  kVideoEncoder,  ///< network: mouth pictures to tokens
  kAudioEncoder,  ///< network: spectrogram to tokens
  kAttention,     ///< network: cross-attention and what follows
  kRest,
};
inline constexpr std::size_t kNumStages = 10;

/// "decode", "video encoder", ...
std::string_view to_string(Stage stage) noexcept;

/// Wall time that was spent in each stage, in seconds, not counting other stages called from it.
struct StageTimes {
  std::array<double, kNumStages> seconds{};

  double& operator[](Stage stage) noexcept { return seconds[static_cast<std::size_t>(stage)]; }
  double operator[](Stage stage) const noexcept { return seconds[static_cast<std::size_t>(stage)]; }
  double total() const noexcept;
};

}  // namespace av_fusion
