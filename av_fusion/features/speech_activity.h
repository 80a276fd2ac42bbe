// Copyright 2026 The av_fusion authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "av_fusion/features/feature_sequence.h"

namespace av_fusion {

/// A cheap guess for each log-mel frame whether somebody speaks in it; streaming.
///
/// Speech goes up and down several times a second and keeps changing its spectrum. A frame counts
/// as speech if, with the level taken over 50 ms and compared within half a second on each side,
/// the sound is louder than -60 dB full scale, its level spans at least 6 dB (10th to 90th
/// percentile), this frame is in the upper two thirds of that span, and the spectrum of the loud
/// frames changes. Around such frames 100 ms before and 150 ms after are added.
///
/// What to expect: silence, steady noise and steady tones are not speech. Applause in bursts, music
/// with a beat, barking and typing do look like speech; speech less than about 6 dB above noise
/// does not. It serves to leave silence out of the evidence, not to prove that there is a voice.
///
/// The answer for a frame needs 0.62 s of sound after it. Not thread-safe. The state is bounded;
/// what is ready is kept until it is taken.
class SpeechActivity {
 public:
  SpeechActivity();
  ~SpeechActivity();
  SpeechActivity(SpeechActivity&&) noexcept;
  SpeechActivity& operator=(SpeechActivity&&) noexcept;

  /// Takes the next frames of a `LogMelExtractor` with a hop of 10 ms, [n, 80]. Frames that are not
  /// valid (outside of the sound) are not speech and are not compared with: that sound begins or
  /// ends is no sign of a voice. Throws `Error(kShapeMismatch)` for other shapes and
  /// `Error(kInvalidArgument)` after `finish`.
  void push(const FeatureSequence<float>& mel);

  /// No more frames will come: decides the rest.
  void finish();

  /// The next decisions in order, 1 = speech.
  std::vector<std::uint8_t> take_ready();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace av_fusion
