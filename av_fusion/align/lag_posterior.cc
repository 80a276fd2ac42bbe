// Copyright 2026 The av_fusion authors. SPDX-License-Identifier: Apache-2.0
#include "av_fusion/align/lag_posterior.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

#include "av_fusion/align/private/peak_index.h"
#include "av_fusion/align/private/sigmoid.h"
#include "av_fusion/core/error.h"
#include "av_fusion/core/shape.h"

namespace av_fusion {
namespace {

constexpr double kTailShare = 0.025;  // on each side of a 95 % interval
constexpr double kConfidenceRadiusMs = 40;
constexpr double kContrastReachMs = 120;
constexpr std::size_t kEdgeLags = 2;
constexpr float kNoSound = -std::numeric_limits<float>::infinity();

/// Probabilities of bins of one lag hop, each spread evenly over its bin: positions are in hops,
/// the centre of bin i is i.
class BinnedDistribution {
 public:
  explicit BinnedDistribution(std::span<const double> probabilities)
      : probabilities_(probabilities) {}

  /// Share of the probability below `position`.
  double below(double position) const {
    double sum = 0;
    for (std::size_t i = 0; i < probabilities_.size(); ++i) {
      const double start = static_cast<double>(i) - 0.5;
      sum += probabilities_[i] * std::clamp(position - start, 0.0, 1.0);
    }
    return sum;
  }

  /// The position with `share` of the probability below it.
  double quantile(double share) const {
    double sum = 0;
    for (std::size_t i = 0; i < probabilities_.size(); ++i) {
      if (probabilities_[i] > 0 && sum + probabilities_[i] >= share) {
        return static_cast<double>(i) - 0.5 + (share - sum) / probabilities_[i];
      }
      sum += probabilities_[i];
    }
    return static_cast<double>(probabilities_.size()) - 0.5;
  }

 private:
  std::span<const double> probabilities_;
};

/// Where between the neighbours of `peak` the curve is highest, in hops from `peak`: the vertex of
/// the parabola through the three values, -0.5 to 0.5.
double parabola_shift(std::span<const double> curve, std::size_t peak) {
  if (peak == 0 || peak + 1 == curve.size()) return 0;
  const double before = curve[peak - 1];
  const double after = curve[peak + 1];
  const double bend = before - 2 * curve[peak] + after;
  return bend < 0 ? 0.5 * (before - after) / bend : 0;
}

void check_finite(std::span<const float> lag_logits) {
  const auto is_wrong = [](float x) { return !std::isfinite(x) && x != kNoSound; };
  const auto wrong = std::find_if(lag_logits.begin(), lag_logits.end(), is_wrong);
  if (wrong != lag_logits.end()) {
    throw Error(ErrorCode::kInvalidArgument, "lag evidence",
                "the logit of lag column " + std::to_string(wrong - lag_logits.begin()) +
                    " is not a number");
  }
}

}  // namespace

LagPosterior::LagPosterior(MediaDuration lag_hop, std::int64_t width)
    : lag_hop_(lag_hop), width_(width) {
  if (lag_hop.us <= 0) {
    throw Error(ErrorCode::kInvalidArgument, "lag evidence", "lag_hop must be more than 0");
  }
  if (width < 2) {
    throw Error(ErrorCode::kInvalidArgument, "lag evidence",
                "width must be at least 2 lags, got " + std::to_string(width));
  }
  evidence_.resize(static_cast<std::size_t>(2 * width + 1));
}

void LagPosterior::add(std::span<const float> lag_logits, MediaDuration picture_late) {
  expect_shape(Shape{static_cast<std::int64_t>(lag_logits.size())}, Shape{2 * width_ + 1},
               "lag evidence");
  check_finite(lag_logits);
  double sum = 0;
  int count = 0;
  for (const float logit : lag_logits) {
    if (logit == kNoSound) continue;
    sum += logit;
    ++count;
  }
  if (count == 0) return;
  const double mean = sum / count;
  for (std::size_t i = 0; i < evidence_.size(); ++i) {
    evidence_[i] += lag_logits[i] == kNoSound ? mean : lag_logits[i];
  }
  num_ticks_ += 1;
  picture_late_ms_ += picture_late.ms();
}

void LagPosterior::merge(const LagPosterior& other, double weight) {
  if (other.lag_hop_ != lag_hop_ || other.width_ != width_) {
    throw Error(ErrorCode::kInvalidArgument, "lag evidence",
                "evidence over different lags cannot be summed");
  }
  if (!(weight >= 0)) {
    throw Error(ErrorCode::kInvalidArgument, "lag evidence", "a weight must not be negative");
  }
  for (std::size_t i = 0; i < evidence_.size(); ++i) evidence_[i] += weight * other.evidence_[i];
  num_ticks_ += weight * other.num_ticks_;
  picture_late_ms_ += weight * other.picture_late_ms_;
}

double LagPosterior::mean_picture_late_ms() const noexcept {
  return num_ticks_ > 0 ? picture_late_ms_ / num_ticks_ : 0;
}

double LagPosterior::contrast() const noexcept {
  if (num_ticks_ <= 0) return 0;
  const std::size_t peak = peak_index(std::span<const double>(evidence_));
  const auto reach = static_cast<std::size_t>(kContrastReachMs / lag_hop_.ms());
  const auto first = evidence_.begin();
  const auto left = first + static_cast<std::ptrdiff_t>(peak - std::min(peak, reach));
  const auto right =
      first + static_cast<std::ptrdiff_t>(std::min(peak + reach + 1, evidence_.size()));
  double rival = -std::numeric_limits<double>::infinity();
  if (left != first) rival = *std::max_element(first, left);
  if (right != evidence_.end()) rival = std::max(rival, *std::max_element(right, evidence_.end()));
  return std::isfinite(rival) ? (evidence_[peak] - rival) / num_ticks_ : 0;
}

double LagPosterior::match_log_odds(const LagCalibration& calibration) const noexcept {
  const double counted = num_ticks_ / (1 + num_ticks_ / calibration.match_ticks);
  return std::sqrt(counted) * (calibration.match_scale * contrast() + calibration.match_bias);
}

double LagPosterior::match_probability(const LagCalibration& calibration) const noexcept {
  return num_ticks_ > 0 ? sigmoid(match_log_odds(calibration)) : 0;
}

std::vector<double> LagPosterior::probabilities(const LagCalibration& calibration) const {
  const double scale = calibration.evidence_scale / (1 + num_ticks_ / calibration.correlated_ticks);
  const double highest = *std::max_element(evidence_.begin(), evidence_.end());
  std::vector<double> result(evidence_.size());
  double sum = 0;
  for (std::size_t i = 0; i < result.size(); ++i) {
    result[i] = std::exp(scale * (evidence_[i] - highest));
    sum += result[i];
  }
  const double floor = calibration.outlier_share / static_cast<double>(result.size());
  for (double& p : result) p = (1 - calibration.outlier_share) * p / sum + floor;
  return result;
}

LagEstimate LagPosterior::estimate(const LagCalibration& calibration) const {
  return estimate(calibration, match_probability(calibration));
}

LagEstimate LagPosterior::estimate(const LagCalibration& calibration,
                                   double match_probability) const {
  const std::vector<double> posterior = probabilities(calibration);
  const BinnedDistribution distribution(posterior);
  const std::size_t peak = peak_index(std::span<const double>(evidence_));
  const double position = static_cast<double>(peak) + parabola_shift(evidence_, peak);
  const double hop_ms = lag_hop_.ms();
  // The lag counts from the tick. A picture shown p after its tick is p nearer to a late sound.
  const auto offset_at = [&](double at) {
    const double lag_ms = (at - static_cast<double>(width_)) * hop_ms;
    return mean_picture_late_ms() - lag_ms;
  };
  const double radius = kConfidenceRadiusMs / hop_ms;

  LagEstimate result;
  result.within_40_ms = std::clamp(
      distribution.below(position + radius) - distribution.below(position - radius), 0.0, 1.0);
  result.match_probability = match_probability;
  result.at_edge = peak < kEdgeLags || peak + kEdgeLags >= evidence_.size();
  result.offset.ms = offset_at(position);
  result.offset.low_ms = offset_at(std::max(position, distribution.quantile(1 - kTailShare)));
  result.offset.high_ms = offset_at(std::min(position, distribution.quantile(kTailShare)));
  result.offset.confidence = result.within_40_ms * result.match_probability;
  return result;
}

}  // namespace av_fusion
