// Copyright 2026 The av_fusion authors. SPDX-License-Identifier: Apache-2.0
#include "av_fusion/align/private/track_evidence.h"

#include <algorithm>
#include <utility>

#include "av_fusion/align/private/attention_row.h"
#include "av_fusion/align/private/decision.h"
#include "av_fusion/align/private/sigmoid.h"

namespace av_fusion {
namespace {

constexpr double kSurestTrack = 4;  // log-odds: a stretch of any track may hold another sound
constexpr double kSureStretch = 0.8;  // confidence from which a stretch knows its own lag
constexpr MediaDuration kSpeakingReach = {50'000};

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

  if (valid_ticks_ == 0) first_ = tick;
  last_ = tick;
  ++valid_ticks_;
  bin_at(tick).add(attention.lag_logits(), evidence.picture_late[index]);
  speaking_.add(tick, attention.lag_logits(), speaking_logit);
  if (options_.keep.us > 0) speaking_.forget_before(tick - options_.keep);

  if (!is_attention_due(tick)) return std::nullopt;
  if (box != nullptr) boxes_.push_back({from_zero(tick), *box});
  forget_old(boxes_, from_zero(tick), options_.keep);
  return attention.frame(id_);
}

/// The first valid tick of each slot of one attention hop is due.
bool TrackEvidence::is_attention_due(MediaTime tick) {
  const std::int64_t slot = floor_divide((tick - grid_.anchor).us, options_.attention_hop.us);
  if (attention_slot_ == slot) return false;
  attention_slot_ = slot;
  return true;
}

/// The evidence of the bin that `tick`, the last one, lies in. Bins and stretches that end before
/// it are complete.
LagPosterior& TrackEvidence::bin_at(MediaTime tick) {
  const std::int64_t bin = grid_.bin_of(tick);
  if (bins_.empty()) {
    next_stretch_ = grid_.stretch_of(bin);
  } else if (bins_.rbegin()->first != bin) {
    past_.merge(bins_.rbegin()->second);
    finish_stretches(bin);
  }
  return bins_.try_emplace(bin, options_.lag_hop, options_.width).first->second;
}

/// Turns the stretches that end with the bins before `bin` into points, and forgets what no other
/// stretch needs.
void TrackEvidence::finish_stretches(std::int64_t bin) {
  for (; next_stretch_ + grid_.window_bins <= bin; next_stretch_ += grid_.hop_bins) {
    if (const auto complete = stretch(next_stretch_)) {
      stretches_.push_back(*complete);
      judge_speaking(*complete, next_stretch_);
    }
    forget_old(stretches_, from_zero(last_), options_.keep);
  }
  bins_.erase(bins_.begin(), bins_.lower_bound(next_stretch_));
}

void TrackEvidence::judge_speaking(const Stretch& stretch, std::int64_t first_bin) {
  if (stretch.estimate.offset.confidence < kSureStretch) return;
  own_lag_ = sum_of_window(first_bin).probabilities(options_.calibration);
  speaking_.judge(own_lag_);
}

void TrackEvidence::end() {
  speaking_.end();
  if (!own_lag_.empty()) speaking_.judge(own_lag_);
}

std::size_t TrackEvidence::speaking_reach(const AlignmentOptions& options) {
  return static_cast<std::size_t>(kSpeakingReach.us / options.lag_hop.us);
}

LagPosterior TrackEvidence::sum() const {
  LagPosterior sum = past_;
  if (!bins_.empty()) sum.merge(bins_.rbegin()->second);
  return sum;
}

/// The offset of the whole track if its `sum` may be shown as a measurement.
std::optional<Offset> TrackEvidence::measured(const LagPosterior& sum) const {
  if (valid_ticks_ < options_.min_ticks) return std::nullopt;
  const LagEstimate estimate = sum.estimate(options_.calibration);
  return is_measurement(estimate, options_) ? std::optional(estimate.offset) : std::nullopt;
}

TrackState TrackEvidence::state(std::span<const double> lag_probabilities) const {
  TrackState result;
  result.id = id_;
  result.first = first_;
  result.last = last_;
  if (!boxes_.empty()) result.box = boxes_.back().edges;
  result.speaking =
      speaking_.latest(own_lag_.empty() ? lag_probabilities : std::span<const double>(own_lag_));
  const std::int64_t window = bins_.rbegin()->first + 1 - grid_.window_bins;
  const LagPosterior everything = sum();
  if (const auto recent = stretch(window)) {
    const LagEstimate estimate =
        estimate_within_track(*recent, everything.match_log_odds(options_.calibration));
    if (is_measurement(estimate, options_)) result.recent = estimate.offset;
  }
  result.whole = measured(everything);
  return result;
}

FaceTrack TrackEvidence::face_track() const {
  FaceTrack result;
  result.id = id_;
  result.start = from_zero(first_);
  result.end = from_zero(end_time());
  for (std::size_t k = 0; k < 4 && !boxes_.empty(); ++k) {
    std::vector<double> values;
    for (const TimedBox& box : boxes_) values.push_back(box.edges[k]);
    result.box[k] = median(std::move(values));
  }
  result.offset = measured(sum());
  return result;
}

std::vector<TimelinePoint> TrackEvidence::timeline() const {
  if (bins_.empty()) return {};
  std::vector<Stretch> all = stretches_;
  const bool is_only_one = next_stretch_ == grid_.stretch_of(grid_.bin_of(first_));
  const bool is_whole = next_stretch_ + grid_.window_bins == bins_.rbegin()->first + 1;
  if (is_only_one || is_whole) {
    if (const auto last = stretch(next_stretch_)) all.push_back(*last);
  }
  const double track_log_odds = sum().match_log_odds(options_.calibration);
  std::vector<TimelinePoint> result;
  for (const Stretch& one : all) {
    result.push_back({one.t, estimate_within_track(one, track_log_odds).offset, id_});
  }
  return result;
}

/// Four fifths of a stretch that is so short that `min_ticks` do not fit in.
double TrackEvidence::min_ticks_of_stretch() const {
  const double fitting = options_.window.seconds() / options_.tick_hop.seconds();
  return std::min(static_cast<double>(options_.min_ticks), 0.8 * fitting);
}

LagPosterior TrackEvidence::sum_of_window(std::int64_t first_bin) const {
  LagPosterior sum(options_.lag_hop, options_.width);
  const auto past = bins_.lower_bound(first_bin + grid_.window_bins);
  for (auto it = bins_.lower_bound(first_bin); it != past; ++it) sum.merge(it->second);
  return sum;
}

/// With the match that stretch and track together make likely. The log-odds of the track hold the
/// stretch's own by its share of the ticks, so only the rest of those is added.
LagEstimate TrackEvidence::estimate_within_track(const Stretch& stretch,
                                                 double track_log_odds) const {
  const double rest = 1 - stretch.ticks / static_cast<double>(valid_ticks_);
  LagEstimate estimate = stretch.estimate;
  estimate.match_probability =
      sigmoid(std::min(track_log_odds, kSurestTrack) + rest * stretch.match_log_odds);
  estimate.offset.confidence = estimate.within_40_ms * estimate.match_probability;
  return estimate;
}

/// The stretch of one window from `first_bin`; nothing if it holds too little or its best lag is at
/// the edge of the search.
std::optional<TrackEvidence::Stretch> TrackEvidence::stretch(std::int64_t first_bin) const {
  const LagPosterior sum = sum_of_window(first_bin);
  if (sum.num_ticks() < min_ticks_of_stretch()) return std::nullopt;
  const LagEstimate estimate = sum.estimate(options_.calibration);
  if (estimate.at_edge) return std::nullopt;
  const MediaTime start = std::max(first_, grid_.start_of(first_bin));
  const MediaTime stop = std::min(end_time(), grid_.start_of(first_bin + grid_.window_bins));
  return Stretch{{(from_zero(start) + from_zero(stop)).us / 2},
                 estimate,
                 sum.match_log_odds(options_.calibration),
                 sum.num_ticks()};
}

}  // namespace av_fusion
