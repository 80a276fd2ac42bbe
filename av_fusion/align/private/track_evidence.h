// Copyright 2026 The av_fusion authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <vector>

#include "av_fusion/align/alignment.h"
#include "av_fusion/align/alignment_options.h"
#include "av_fusion/align/lag_posterior.h"
#include "av_fusion/align/private/bin_grid.h"
#include "av_fusion/align/private/speaking_activity.h"
#include "av_fusion/align/track_state.h"
#include "av_fusion/model/sync_evidence.h"

namespace av_fusion {

/// Forgets the items of a list in order of time `t` that lie more than `keep` before `now`, once
/// they are as many as the others; `keep` 0: none.
template <typename Item>
void forget_old(std::vector<Item>& items, MediaDuration now, MediaDuration keep) {
  if (keep.us <= 0 || items.empty() || items.front().t >= now - keep - keep) return;
  std::erase_if(items, [&](const Item& item) { return item.t < now - keep; });
}

/// What has been gathered about one face: sums of evidence for the stretches of the timeline that
/// are not complete, results of those that are. Times in the results count from the container's
/// zero. `options` and `grid` must outlive the track; the grid's anchor must be set.
class TrackEvidence {
 public:
  using Box = std::array<double, 4>;

  TrackEvidence(int id, const AlignmentOptions& options, const BinGrid& grid)
      : id_(id),
        options_(options),
        grid_(grid),
        past_(options.lag_hop, options.width),
        speaking_(grid.anchor, speaking_reach(options), options.speaking) {}

  /// Adds one valid, checked row. `box` may be null. Returns the attention frame if one is due.
  std::optional<AttentionFrame> add(const SyncEvidence& evidence, std::int64_t row, const Box* box);

  std::int64_t valid_ticks() const { return valid_ticks_; }

  LagPosterior sum() const;

  /// When the face speaks. A stretch that is sure of its own lag is judged at that lag as soon as it
  /// is complete, with what waits before it; the rest waits for the lag of the file.
  SpeakingActivity& speaking() { return speaking_; }

  /// No row comes any more.
  void end();

  /// `lag_probabilities`: of the file, as far as it is known.
  TrackState state(std::span<const double> lag_probabilities) const;

  /// All but when it speaks.
  FaceTrack face_track() const;
  std::vector<TimelinePoint> timeline() const;

 private:
  /// A point of the timeline before it is known how well the track matches.
  struct Stretch {
    MediaDuration t;  // centre
    LagEstimate estimate;
    double match_log_odds = 0;
    double ticks = 0;
  };

  struct TimedBox {
    MediaDuration t;
    Box edges;
  };

  static std::size_t speaking_reach(const AlignmentOptions& options);

  LagPosterior& bin_at(MediaTime tick);
  double min_ticks_of_stretch() const;
  LagPosterior sum_of_window(std::int64_t first_bin) const;
  std::optional<Offset> measured(const LagPosterior& sum) const;
  void finish_stretches(std::int64_t bin);
  void judge_speaking(const Stretch& stretch, std::int64_t first_bin);
  bool is_attention_due(MediaTime tick);
  MediaTime end_time() const { return last_ + options_.tick_hop; }
  std::optional<Stretch> stretch(std::int64_t first_bin) const;
  LagEstimate estimate_within_track(const Stretch& stretch, double track_log_odds) const;

  int id_;
  const AlignmentOptions& options_;
  const BinGrid& grid_;
  MediaTime first_;
  MediaTime last_;  // start of the last valid tick
  std::int64_t valid_ticks_ = 0;
  std::optional<std::int64_t> attention_slot_;
  LagPosterior past_;                          // the bins before the last one
  std::map<std::int64_t, LagPosterior> bins_;  // from the next stretch on, and the last one
  std::int64_t next_stretch_ = 0;              // its first bin
  std::vector<Stretch> stretches_;
  SpeakingActivity speaking_;
  std::vector<double> own_lag_;  // probabilities, of the last stretch that was sure; or empty
  std::vector<TimedBox> boxes_;  // one each attention hop
};

}  // namespace av_fusion
