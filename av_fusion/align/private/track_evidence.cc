// Copyright 2026 The av_fusion authors. SPDX-License-Identifier: Apache-2.0
#include "av_fusion/align/private/track_evidence.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "av_fusion/align/private/attention_row.h"
#include "av_fusion/align/private/decision.h"

namespace av_fusion {
namespace {

constexpr MediaDuration kSpeakingStep = {200'000};
constexpr MediaDuration kSpeakingGap = {300'000};  // shorter pauses do not end a span
constexpr double kSpeakingThreshold = 0.5;

double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }

double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  if (values.size() % 2 == 1) return *middle;
  return (*middle + *std::max_element(values.begin(), middle)) / 2;
}

MediaDuration from_zero(MediaTime time) { return time - MediaTime{}; }

}  // namespace

std::optional<AttentionFrame> TrackEvidence::add(const SyncEvidence& evidence, std::int64_t row,
                                                 const Box* box) {
  const MediaTime tick = evidence.ticks.at(row);
  const auto index = static_cast<std::size_t>(row);
  const float speaking_logit = evidence.speaking_logits.data()[row];
  const AttentionRow attention(evidence, row);
  if (!attention.has_sound()) return std::nullopt;

  bins_.try_emplace(grid_.bin_of(tick), options_.lag_hop, options_.width)
      .first->second.add(attention.lag_logits(), evidence.picture_late[index]);
  Speaking& speaking = speaking_[floor_divide((tick - grid_.anchor).us, kSpeakingStep.us)];
  speaking.logit_sum += speaking_logit;
  ++speaking.ticks;
  if (valid_ticks_ == 0) first_ = tick;
  last_ = tick;
  ++valid_ticks_;

  if (!is_attention_due(tick)) return std::nullopt;
  if (box != nullptr) boxes_.push_back(*box);
  return attention.frame(id_);
}

/// The first valid tick of each slot of one attention hop is due.
bool TrackEvidence::is_attention_due(MediaTime tick) {
  const std::int64_t slot = floor_divide((tick - grid_.anchor).us, options_.attention_hop.us);
  if (attention_slot_ == slot) return false;
  attention_slot_ = slot;
  return true;
}

LagPosterior TrackEvidence::sum() const {
  LagPosterior sum = empty_posterior();
  for (const auto& [bin, posterior] : bins_) sum.merge(posterior);
  return sum;
}

FaceTrack TrackEvidence::face_track() const {
  FaceTrack result;
  result.id = id_;
  result.start = from_zero(first_);
  result.end = from_zero(end());
  for (std::size_t k = 0; k < 4 && !boxes_.empty(); ++k) {
    std::vector<double> values;
    for (const Box& box : boxes_) values.push_back(box[k]);
    result.box[k] = median(std::move(values));
  }
  const LagEstimate estimate = sum().estimate(options_.calibration);
  if (valid_ticks_ >= options_.min_ticks && is_measurement(estimate, options_)) {
    result.offset = estimate.offset;
  }
  result.speaking = speaking_spans();
  return result;
}

std::vector<SpeakingSpan> TrackEvidence::speaking_spans() const {
  struct OpenSpan {
    std::int64_t first, last;  // slots
  };
  std::vector<OpenSpan> spans;
  for (const auto& [slot, speaking] : speaking_) {
    if (sigmoid(speaking.logit_sum / static_cast<double>(speaking.ticks)) < kSpeakingThreshold) {
      continue;
    }
    const bool joins =
        !spans.empty() && (kSpeakingStep * (slot - spans.back().last - 1)) < kSpeakingGap;
    if (joins) {
      spans.back().last = slot;
    } else {
      spans.push_back({slot, slot});
    }
  }

  std::vector<SpeakingSpan> result;
  for (const OpenSpan& span : spans) {
    double probability = 0;
    double ticks = 0;
    const auto past = speaking_.upper_bound(span.last);
    for (auto it = speaking_.find(span.first); it != past; ++it) {
      const auto n = static_cast<double>(it->second.ticks);
      probability += n * sigmoid(it->second.logit_sum / n);
      ticks += n;
    }
    const MediaTime start = std::max(first_, grid_.anchor + kSpeakingStep * span.first);
    const MediaTime stop = std::min(end(), grid_.anchor + kSpeakingStep * (span.last + 1));
    result.push_back({from_zero(start), from_zero(stop), probability / ticks});
  }
  return result;
}

std::vector<TimelinePoint> TrackEvidence::timeline() const {
  std::vector<TimelinePoint> result;
  if (bins_.empty()) return result;
  const std::int64_t first_bin = bins_.begin()->first;
  const std::int64_t past_bin = bins_.rbegin()->first + 1;
  std::int64_t bin = first_bin;
  do {
    if (const auto point = timeline_point(bin)) result.push_back(*point);
    bin += grid_.hop_bins;
  } while (bin + grid_.window_bins <= past_bin);
  return result;
}

/// The stretch of one window from `first_bin`; nothing if it holds too little or its best lag is at
/// the edge of the search.
std::optional<TimelinePoint> TrackEvidence::timeline_point(std::int64_t first_bin) const {
  LagPosterior sum = empty_posterior();
  const auto past = bins_.lower_bound(first_bin + grid_.window_bins);
  for (auto it = bins_.lower_bound(first_bin); it != past; ++it) {
    sum.merge(it->second);
  }
  if (sum.num_ticks() < static_cast<double>(options_.min_ticks)) return std::nullopt;
  const LagEstimate estimate = sum.estimate(options_.calibration);
  if (estimate.at_edge) return std::nullopt;
  const MediaTime start = std::max(first_, grid_.start_of(first_bin));
  const MediaTime stop = std::min(end(), grid_.start_of(first_bin + grid_.window_bins));
  return TimelinePoint{{(from_zero(start) + from_zero(stop)).us / 2}, estimate.offset, id_};
}

}  // namespace av_fusion
