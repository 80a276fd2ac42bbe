// Copyright 2026 The av_fusion authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <span>
#include <vector>

#include "av_fusion/align/face_track.h"
#include "av_fusion/align/speaking_calibration.h"
#include "av_fusion/core/media_time.h"

namespace av_fusion {

/// When one face speaks, in steps of a fifth of a second. A face that speaks agrees with the sound
/// at the lag that the whole file has, so a step waits, with one number for each lag, until that
/// lag is known; after that it is one number.
class SpeakingActivity {
 public:
  /// `anchor`: where the first step of the file begins. `reach`: columns on either side of a lag
  /// whose evidence counts for it.
  SpeakingActivity(MediaTime anchor, std::size_t reach, const SpeakingCalibration& calibration)
      : anchor_(anchor), reach_(reach), calibration_(calibration) {}

  /// Ticks come in order of time. Lags without sound (-infinity) count as the mean of the others,
  /// of which there is one.
  void add(MediaTime tick, std::span<const float> lag_logits, double speaking_logit);

  /// Steps that are complete and wait for a lag.
  std::size_t waiting() const { return waiting_.size(); }

  /// Judges the steps that wait, for a file with these probabilities of its lags.
  void judge(std::span<const double> lag_probabilities);

  /// No tick comes any more: the last step is complete.
  void end();

  /// Forgets the steps before `time`.
  void forget_before(MediaTime time);

  /// Probability in the latest step given those before it, as if all were judged; 0 before the
  /// first tick.
  double latest(std::span<const double> lag_probabilities) const;

  /// Where the steps that are judged speak more likely than not, cut to `first` .. `end`; times
  /// from the container's zero.
  std::vector<SpeakingSpan> within(MediaTime first, MediaTime end) const;

 private:
  struct Step {
    std::int64_t slot = 0;
    double ticks = 0;
    double logit_sum = 0;
    std::vector<float> evidence;  // sums for each lag, less their mean
  };

  struct Judged {
    std::int64_t slot = 0;
    double log_odds = 0;
  };

  std::vector<double> near(std::span<const double> lag_probabilities) const;
  Judged judged(const Step& step, std::span<const double> weights) const;
  double next(double speaking) const;
  std::size_t end_of_stretch(std::size_t begin) const;
  std::vector<double> probabilities(std::size_t begin, std::size_t end) const;

  MediaTime anchor_;
  std::size_t reach_;
  SpeakingCalibration calibration_;
  Step open_;
  std::vector<Step> waiting_;
  std::deque<Judged> judged_;
};

}  // namespace av_fusion
