// Copyright 2026 The av_fusion authors. SPDX-License-Identifier: Apache-2.0
#pragma once

namespace av_fusion {

/// How evidence becomes the probability that a face speaks; fitted on people who did not train the
/// network. Steps of a fifth of a second are judged: their log-odds are
///
///     scale * e + head * s + bias
///
/// with e the mean over the step's ticks of the lag logits within 50 ms of the lag that the file
/// has, less the mean over all lags, and s the mean speaking logit. A two-state Markov chain then
/// smooths them.
struct SpeakingCalibration {
  double scale = 0;
  double head = 1;
  double bias = 0;
  double start = 0.5;  ///< > 0, < 1; probability that a silent face speaks in the next step
  double stop = 0.5;   ///< > 0, < 1; and that a speaking one is silent; 0.5 and 0.5: no smoothing
};

}  // namespace av_fusion
