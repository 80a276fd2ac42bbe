// Copyright 2026 The av_fusion authors. SPDX-License-Identifier: Apache-2.0
#include "av_fusion/align/private/speaking_activity.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>

#include "av_fusion/align/private/bin_grid.h"
#include "av_fusion/align/private/sigmoid.h"

namespace av_fusion {
namespace {

constexpr MediaDuration kStep = {200'000};
constexpr double kThreshold = 0.5;
constexpr double kSurest = 30;        // log-odds of a step: their exponential stays a number
constexpr std::size_t kMemory = 100;  // steps: what is longer ago says nothing of now

/// Multiplies the odds of a probability.
double times_odds(double probability, double log_odds) {
  const double yes = probability * std::exp(log_odds);
  return yes / (yes + 1 - probability);
}

}  // namespace

void SpeakingActivity::add(MediaTime tick, std::span<const float> lag_logits,
                           double speaking_logit) {
  const std::int64_t slot = floor_divide((tick - anchor_).us, kStep.us);
  if (slot != open_.slot) end();
  open_.slot = slot;
  open_.evidence.resize(lag_logits.size());
  double sum = 0;
  double heard = 0;
  for (const float logit : lag_logits) {
    if (std::isinf(logit)) continue;
    sum += logit;
    heard += 1;
  }
  const double mean = sum / heard;
  for (std::size_t i = 0; i < lag_logits.size(); ++i) {
    if (std::isinf(lag_logits[i])) continue;
    open_.evidence[i] += static_cast<float>(lag_logits[i] - mean);
  }
  open_.logit_sum += speaking_logit;
  open_.ticks += 1;
}

void SpeakingActivity::end() {
  if (open_.ticks > 0) waiting_.push_back(std::exchange(open_, {}));
}

void SpeakingActivity::judge(std::span<const double> lag_probabilities) {
  if (waiting_.empty()) return;
  const std::vector<double> weights = near(lag_probabilities);
  for (const Step& step : waiting_) judged_.push_back(judged(step, weights));
  waiting_.clear();
}

void SpeakingActivity::forget_before(MediaTime time) {
  while (!judged_.empty() && anchor_ + kStep * (judged_.front().slot + 1) <= time) {
    judged_.pop_front();
  }
}

/// Weights of the lags with which the evidence is summed: each probability spread over its reach.
std::vector<double> SpeakingActivity::near(std::span<const double> lag_probabilities) const {
  std::vector<double> weights(lag_probabilities.size());
  for (std::size_t i = 0; i < weights.size(); ++i) {
    const std::size_t first = i - std::min(i, reach_);
    const std::size_t end = std::min(i + reach_ + 1, weights.size());
    const double share = lag_probabilities[i] / static_cast<double>(end - first);
    for (std::size_t k = first; k < end; ++k) weights[k] += share;
  }
  return weights;
}

SpeakingActivity::Judged SpeakingActivity::judged(const Step& step,
                                                  std::span<const double> weights) const {
  double evidence = 0;
  for (std::size_t i = 0; i < weights.size(); ++i) evidence += weights[i] * step.evidence[i];
  const double log_odds =
      (calibration_.scale * evidence + calibration_.head * step.logit_sum) / step.ticks +
      calibration_.bias;
  return {step.slot, std::clamp(log_odds, -kSurest, kSurest)};
}

/// Probability of the next step, before it is looked at.
double SpeakingActivity::next(double speaking) const {
  return speaking * (1 - calibration_.stop) + (1 - speaking) * calibration_.start;
}

/// From the first to the last step that is judged; 0 where the face was not seen.
std::vector<double> SpeakingActivity::log_odds_of_slots() const {
  const std::int64_t first = judged_.front().slot;
  std::vector<double> result(static_cast<std::size_t>(judged_.back().slot - first + 1));
  for (const Judged& one : judged_) {
    result[static_cast<std::size_t>(one.slot - first)] = one.log_odds;
  }
  return result;
}

/// Of each slot given all of them: the forward-backward algorithm for two states (Rabiner 1989).
std::vector<double> SpeakingActivity::probabilities() const {
  const std::vector<double> log_odds = log_odds_of_slots();
  std::vector<double> result(log_odds.size());
  double speaking = calibration_.start / (calibration_.start + calibration_.stop);
  for (std::size_t i = 0; i < result.size(); ++i) {
    speaking = times_odds(i == 0 ? speaking : next(speaking), log_odds[i]);
    result[i] = speaking;
  }
  // How much likelier what comes after a step is if the step speaks, in log-odds.
  double after = 0;
  for (std::size_t i = result.size(); i-- > 0;) {
    result[i] = times_odds(result[i], after);
    const double odds = std::exp(log_odds[i] + after);
    after = std::log(((1 - calibration_.stop) * odds + calibration_.stop) /
                     (calibration_.start * odds + 1 - calibration_.start));
  }
  return result;
}

double SpeakingActivity::latest(std::span<const double> lag_probabilities) const {
  if (open_.ticks <= 0) return 0;
  SpeakingActivity recent(anchor_, reach_, calibration_);
  const auto last_of = [](const auto& steps) {
    return steps.end() - static_cast<std::ptrdiff_t>(std::min(steps.size(), kMemory));
  };
  recent.judged_.assign(last_of(judged_), judged_.end());
  recent.waiting_.assign(last_of(waiting_), waiting_.end());
  recent.open_ = open_;
  recent.end();
  recent.judge(lag_probabilities);
  return recent.probabilities().back();
}

std::vector<SpeakingSpan> SpeakingActivity::within(MediaTime first, MediaTime end) const {
  if (judged_.empty()) return {};
  const std::vector<double> speaking = probabilities();
  const auto time_of = [&](std::size_t i) {
    return anchor_ + kStep * (judged_.front().slot + static_cast<std::int64_t>(i));
  };
  std::vector<SpeakingSpan> result;
  for (std::size_t i = 0; i < speaking.size();) {
    const std::size_t start = i;
    double sum = 0;
    for (; i < speaking.size() && speaking[i] >= kThreshold; ++i) sum += speaking[i];
    if (i == start) {
      ++i;
      continue;
    }
    result.push_back({std::max(first, time_of(start)) - MediaTime{},
                      std::min(end, time_of(i)) - MediaTime{},
                      sum / static_cast<double>(i - start)});
  }
  return result;
}

}  // namespace av_fusion
