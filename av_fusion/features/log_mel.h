// Copyright 2026 The av_fusion authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "av_fusion/core/timeline.h"
#include "av_fusion/features/feature_sequence.h"
#include "av_fusion/media/audio_clip.h"

namespace av_fusion {

/// Log-mel spectrogram of 16 kHz sound, streaming.
///
/// Frame i is centred at `timeline.at(i)`, rounded to the nearest sample of the grid n / 16000 s.
/// With the centre sample c it is computed from x[n] = samples c - 200 ... c + 199 (25 ms):
///
///     w[n] = 0.5 - 0.5 cos(2 pi n / 400),  n = 0 ... 399        (periodic Hann; w[200] = 1)
///     P[k] = |DFT_512(w x)[k]|^2 / sum(w^2),  k = 0 ... 256
///     out[b] = ln(1e-8 + sum_k T_b(k * 31.25 Hz) P[k])
///
/// T_b is a triangle of height 1 over three neighbouring of 82 frequencies that are equally spaced
/// from 60 to 7600 Hz on the mel scale 2595 log10(1 + f / 700) (HTK's). Samples are in -1 ... 1,
/// so digital silence is ln(1e-8) = -18.42 and white noise of variance v has an expectation of P =
/// v.
///
/// A frame is valid (1) if the whole window lay in sound that was delivered; what was not is taken
/// as silence. Cutting the sound into other clips does not change a bit. Not thread-safe. Holds the
/// samples of one window plus what is ready and not taken.
class LogMelExtractor {
 public:
  static constexpr int kBands = 80;
  static constexpr int kWindow = 400;  ///< samples
  static constexpr MediaDuration kHop{10'000};

  /// `timeline` gives the frame centres; it may begin before the sound does. Throws
  /// `Error(kInvalidArgument)` unless its hop is positive.
  explicit LogMelExtractor(const Timeline& timeline);
  ~LogMelExtractor();
  LogMelExtractor(LogMelExtractor&&) noexcept;
  LogMelExtractor& operator=(LogMelExtractor&&) noexcept;

  /// Takes the next clip; clips come in order of time. Time between two clips is silence; a clip
  /// that starts within one sample of the end of the one before follows without a hole, and of a
  /// clip that reaches back only the new part counts. Throws `Error(kInvalidArgument)` after
  /// `finish`.
  void push(const AudioClip& clip);

  /// No more sound will come: makes all frames centred up to `until` ready, with silence for what
  /// is missing.
  void finish(MediaTime until);

  /// The next frames in order, [n, kBands] with n >= 0; its timeline starts at the first of them.
  FeatureSequence<float> take_ready();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace av_fusion
