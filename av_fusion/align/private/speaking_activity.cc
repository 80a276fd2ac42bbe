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
constexpr double kSurest = 30;         // log-odds of a step: their exponential stays a number
constexpr std::int64_t kMemory = 100;  // steps: what is longer ago says nothing of now

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

/// Where the stretch of judged steps that begins with number `begin` ends: before a hole so long that
/// what is before it says nothing of what comes after.
std::size_t SpeakingActivity::end_of_stretch(std::size_t begin) const {
  std::size_t end = begin + 1;
  while (end < judged_.size() && judged_[end].slot - judged_[end - 1].slot <= kMemory) ++end;
  return end;
}

/// Of each slot from that of judged step `begin` to that of the one before `end`, given all of them;
/// a face that was not seen gives no evidence. The forward-backward algorithm for two states
/// (Rabiner 1989).
std::vector<double> SpeakingActivity::probabilities(std::size_t begin, std::size_t end) const {
  const std::int64_t first = judged_[begin].slot;
  std::vector<double> log_odds(static_cast<std::size_t>(judged_[end - 1].slot - first + 1));
  for (std::size_t i = begin; i < end; ++i) {
    log_odds[static_cast<std::size_t>(judged_[i].slot - first)] = judged_[i].log_odds;
  }
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
  const auto first_recent = [&](const auto& steps) {
    return std::ranges::partition_point(
        steps, [&](const auto& step) { return step.slot < open_.slot - kMemory; });
  };
  recent.judged_.assign(first_recent(judged_), judged_.end());
  recent.waiting_.assign(first_recent(waiting_), waiting_.end());
  recent.open_ = open_;
  recent.end();
  recent.judge(lag_probabilities);
  return recent.probabilities(0, recent.judged_.size()).back();
}

std::vector<SpeakingSpan> SpeakingActivity::within(MediaTime first, MediaTime end) const {
  std::vector<SpeakingSpan> result;
  for (std::size_t next = 0; next < judged_.size();) {
    const std::size_t begin = std::exchange(next, end_of_stretch(next));
    const std::vector<double> speaking = probabilities(begin, next);
    const auto time_of = [&](std::size_t i) {
      return anchor_ + kStep * (judged_[begin].slot + static_cast<std::int64_t>(i));
    };
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
  }
  return result;
}

}  // namespace av_fusion
