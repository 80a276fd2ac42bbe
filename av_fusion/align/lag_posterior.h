// Copyright 2026 The av_fusion authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "av_fusion/align/lag_calibration.h"
#include "av_fusion/align/lag_estimate.h"
#include "av_fusion/core/media_time.h"

namespace av_fusion {

/// The evidence of any number of picture ticks about the lag of the sound, and the probabilities
/// that follow from it. A plain value of fixed size; one thread at a time.
///
/// Column l stands for sound heard (l - width) * lag_hop after the tick, as in `SyncEvidence`. A
/// picture that is shown p after its tick sees that sound at a lag shorter by p, so with p averaged
/// over the ticks: offset = -(lag - p), positive when the sound is early.
class LagPosterior {
 public:
  /// `lag_hop` > 0, `width` >= 2; throws `Error(kInvalidArgument)` otherwise.
  LagPosterior(MediaDuration lag_hop, std::int64_t width);

  /// Adds one valid tick. `lag_logits` [2 width + 1]; -infinity marks a lag at which there is no
  /// sound (before the first or after the last sample): it counts as the mean of the row's other
  /// lags, neither for nor against. A row without any sound is not counted. Throws
  /// `Error(kShapeMismatch)` for a row of another length, `Error(kInvalidArgument)` for NaN or
  /// +infinity; nothing is added then.
  void add(std::span<const float> lag_logits, MediaDuration picture_late);

  /// Adds `weight` (>= 0) times everything `other` holds. Throws `Error(kInvalidArgument)` if the
  /// lags of the two differ.
  void merge(const LagPosterior& other, double weight = 1);

  MediaDuration lag_hop() const noexcept { return lag_hop_; }
  std::int64_t width() const noexcept { return width_; }
  double num_ticks() const noexcept { return num_ticks_; }                 ///< weighted by `merge`
  std::span<const double> evidence() const noexcept { return evidence_; }  ///< [2 width + 1] sum
  double mean_picture_late_ms() const noexcept;                            ///< 0 without ticks

  /// How far the best lag stands out, for each tick: its evidence less that of the best lag more
  /// than 120 ms away. 0 without ticks, or if all lags are nearer than that.
  double contrast() const noexcept;

  /// ln of how much likelier this evidence is of a face that makes this sound than of another one:
  /// sqrt(m) * (match_scale * contrast + match_bias), where m = n / (1 + n / match_ticks). The
  /// contrast of a foreign face falls like 1 / sqrt(n), so a short stretch says little. 0 without
  /// ticks.
  double match_log_odds(const LagCalibration& calibration) const noexcept;

  /// That this face makes this sound, if nothing else is known: sigmoid(match_log_odds); 0 without
  /// ticks.
  double match_probability(const LagCalibration& calibration) const noexcept;

  /// [2 width + 1], sums to 1: (1 - outlier_share) * softmax(scale(n) * evidence) + outlier_share *
  /// uniform, where scale(n) = evidence_scale / (1 + n / correlated_ticks).
  std::vector<double> probabilities(const LagCalibration& calibration) const;

  /// The offset: a parabola through the evidence around its maximum (of equal maxima the one
  /// nearest to lag 0), corrected for late pictures. The 95 % interval reads the cumulated
  /// probabilities, each spread evenly over its bin of one lag hop, and always contains the offset.
  LagEstimate estimate(const LagCalibration& calibration) const;

  /// The same with a probability that face and sound belong together which is known from elsewhere.
  LagEstimate estimate(const LagCalibration& calibration, double match_probability) const;

 private:
  MediaDuration lag_hop_;
  std::int64_t width_;
  std::vector<double> evidence_;
  double num_ticks_ = 0;
  double picture_late_ms_ = 0;  // sum
};

}  // namespace av_fusion
