// Copyright 2026 The av_fusion authors. SPDX-License-Identifier: Apache-2.0
#include "av_fusion/align/private/attention_row.h"

#include <algorithm>
#include <cstdlib>
#include <limits>

#include "av_fusion/align/private/peak_index.h"

namespace av_fusion {
namespace {

constexpr MediaDuration kWeightRadius = {40'000};
constexpr float kNoSound = -std::numeric_limits<float>::infinity();

}  // namespace

AttentionRow::AttentionRow(const SyncEvidence& evidence, std::int64_t row)
    : evidence_(evidence), row_(row) {
  const std::int64_t lags = 2 * evidence.width + 1;
  const float* logits = evidence.lag_logits.data() + row * lags;
  lag_logits_.assign(logits, logits + lags);
  const std::int64_t heads = evidence.head_weights.dim(1);
  for (std::size_t column = 0; column < lag_logits_.size(); ++column) {
    if (lag_logits_[column] != 0) continue;
    bool is_masked = true;
    for (std::int64_t h = 0; h < heads && is_masked; ++h) is_masked = head(h)[column] == 0;
    if (is_masked) lag_logits_[column] = kNoSound;
  }
}

bool AttentionRow::has_sound() const {
  return std::any_of(lag_logits_.begin(), lag_logits_.end(),
                     [](float logit) { return logit != kNoSound; });
}

std::span<const float> AttentionRow::head(std::int64_t index) const {
  const std::int64_t lags = 2 * evidence_.width + 1;
  const std::int64_t heads = evidence_.head_weights.dim(1);
  return {evidence_.head_weights.data() + (row_ * heads + index) * lags,
          static_cast<std::size_t>(lags)};
}

MediaDuration AttentionRow::audio_time(std::size_t column) const {
  const std::int64_t lag = static_cast<std::int64_t>(column) - evidence_.width;
  return evidence_.ticks.at(row_) + evidence_.lag_hop * lag - MediaTime{};
}

AttentionFrame AttentionRow::frame(int track) const {
  const std::int64_t heads = evidence_.head_weights.dim(1);
  const std::size_t peak = peak_index(lag_logits());
  AttentionFrame result;
  const MediaTime picture =
      evidence_.ticks.at(row_) + evidence_.picture_late[static_cast<std::size_t>(row_)];
  result.t = picture - MediaTime{};
  result.track = track;
  result.audio_t = audio_time(peak);
  result.per_head_audio_t.reserve(static_cast<std::size_t>(heads));  // kept by the thousand
  for (std::int64_t h = 0; h < heads; ++h) {
    const std::span<const float> weights = head(h);
    result.per_head_audio_t.push_back(audio_time(peak_index(weights)));
    for (std::size_t column = 0; column < weights.size(); ++column) {
      const MediaDuration distance = audio_time(column) - result.audio_t;
      if (std::abs(distance.us) <= kWeightRadius.us) result.weight += weights[column];
    }
  }
  result.weight /= static_cast<double>(heads);
  return result;
}

}  // namespace av_fusion
