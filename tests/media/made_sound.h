// Copyright 2026 The av_fusion authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

namespace av_fusion {

/// Sound at 16 kHz for tests about what is speech, each with a mean square of 0.01.
std::vector<float> made_music(double seconds, double beats_per_minute);
std::vector<float> made_noise(double seconds, unsigned seed);

/// The speech of assets/samples/talking_face.mp4; `seconds` of it, repeated if need be.
std::vector<float> sample_speech(double seconds);

/// The sound with a mean square of 0.01.
std::vector<float> with_level(std::vector<float> sound);

std::vector<float> scaled(std::vector<float> sound, double gain);
std::vector<float> sum_of(const std::vector<float>& a, const std::vector<float>& b);

}  // namespace av_fusion
