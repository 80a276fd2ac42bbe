// Copyright 2026 The av_fusion authors. SPDX-License-Identifier: Apache-2.0
#include "av_fusion/align/private/speaking_spans.h"

#include <algorithm>

#include "av_fusion/align/private/bin_grid.h"
#include "av_fusion/align/private/sigmoid.h"

namespace av_fusion {
namespace {

constexpr MediaDuration kStep = {200'000};
constexpr MediaDuration kLongestPause = {300'000};  // pauses shorter than this do not end a span
constexpr double kThreshold = 0.5;

}  // namespace

void SpeakingSpans::add(MediaTime tick, double speaking_logit) {
  const std::int64_t slot = floor_divide((tick - anchor_).us, kStep.us);
  if (slot != step_.slot) {
    close_step();
    step_ = Step{slot};
  }
  step_.logit_sum += speaking_logit;
  step_.ticks += 1;
}

void SpeakingSpans::close_step() {
  if (step_.ticks <= 0) return;
  const double probability = sigmoid(step_.logit_sum / step_.ticks);
  pause_.probability += step_.ticks * probability;
  pause_.ticks += step_.ticks;
  if (probability < kThreshold) return;
  const bool joins =
      !spans_.empty() && kStep * (step_.slot - spans_.back().last - 1) < kLongestPause;
  if (!joins) {
    spans_.push_back({step_.slot, step_.slot, {}});
    pause_ = {step_.ticks * probability, step_.ticks};
  }
  Span& span = spans_.back();
  span.last = step_.slot;
  span.mass.probability += pause_.probability;
  span.mass.ticks += pause_.ticks;
  pause_ = {};
}

double SpeakingSpans::latest() const {
  return step_.ticks > 0 ? sigmoid(step_.logit_sum / step_.ticks) : 0;
}

std::vector<SpeakingSpan> SpeakingSpans::within(MediaTime first, MediaTime end) const {
  SpeakingSpans all = *this;
  all.close_step();
  std::vector<SpeakingSpan> result;
  result.reserve(all.spans_.size());
  for (const Span& span : all.spans_) {
    const MediaTime start = std::max(first, anchor_ + kStep * span.first);
    const MediaTime stop = std::min(end, anchor_ + kStep * (span.last + 1));
    result.push_back(
        {start - MediaTime{}, stop - MediaTime{}, span.mass.probability / span.mass.ticks});
  }
  return result;
}

}  // namespace av_fusion
