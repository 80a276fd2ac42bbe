// Copyright 2026 The av_fusion authors. SPDX-License-Identifier: Apache-2.0
#include "av_fusion/align/alignment_builder.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <utility>

#include "av_fusion/align/private/bin_grid.h"
#include "av_fusion/align/private/decision.h"
#include "av_fusion/align/private/track_evidence.h"
#include "av_fusion/core/error.h"

namespace av_fusion {
namespace {

// Five minutes of a face, at 2 width + 1 numbers a step.
constexpr std::size_t kMostWaiting = 1500;

[[noreturn]] void refuse(const std::string& context, const std::string& message) {
  throw Error(ErrorCode::kInvalidArgument, context, message);
}

/// Returns `options` if every field makes sense.
const AlignmentOptions& checked(const AlignmentOptions& options) {
  const auto require = [](bool good, const char* message) {
    if (!good) refuse("alignment options", message);
  };
  const LagCalibration& calibration = options.calibration;
  require(options.tick_hop.us > 0, "tick_hop must be more than 0");
  require(options.lag_hop.us > 0, "lag_hop must be more than 0");
  require(options.width >= 2, "width must be at least 2 lags");
  require(options.heads >= 1, "heads must be at least 1");
  require(options.window.us > 0, "window must be more than 0");
  require(options.hop.us > 0, "hop must be more than 0");
  require(options.keep.us == 0 || options.keep >= options.window,
          "keep must be 0 or at least one window");
  require(options.attention_hop.us > 0, "attention_hop must be more than 0");
  require(options.min_ticks >= 1, "min_ticks must be at least 1");
  require(options.min_speech.us >= 0, "min_speech must not be negative");
  require(options.min_confidence >= 0 && options.min_confidence <= 1,
          "min_confidence must be between 0 and 1");
  require(options.min_match >= 0 && options.min_match <= 1, "min_match must be between 0 and 1");
  require(calibration.evidence_scale > 0 && std::isfinite(calibration.evidence_scale),
          "calibration.evidence_scale must be more than 0");
  require(calibration.correlated_ticks > 0, "calibration.correlated_ticks must be more than 0");
  require(calibration.outlier_share >= 0 && calibration.outlier_share <= 1,
          "calibration.outlier_share must be between 0 and 1");
  require(std::isfinite(calibration.match_scale) && std::isfinite(calibration.match_bias),
          "calibration.match_scale and match_bias must be finite");
  require(calibration.match_ticks > 0, "calibration.match_ticks must be more than 0");
  const SpeakingCalibration& speaking = options.speaking;
  require(std::isfinite(speaking.scale) && std::isfinite(speaking.head) &&
              std::isfinite(speaking.bias),
          "speaking.scale, head and bias must be finite");
  require(speaking.start > 0 && speaking.start < 1 && speaking.stop > 0 && speaking.stop < 1,
          "speaking.start and stop must be between 0 and 1");
  return options;
}

/// The parcel has the shapes that the options and its own number of ticks ask for.
void check_shapes(const AlignmentOptions& options, const SyncEvidence& evidence,
                  std::span<const AlignmentBuilder::Box> boxes, const std::string& context) {
  const auto ticks = static_cast<std::int64_t>(evidence.valid.size());
  const std::int64_t lags = 2 * options.width + 1;
  if (evidence.ticks.hop != options.tick_hop) refuse(context, "the tick hop is not the agreed one");
  if (evidence.lag_hop != options.lag_hop) refuse(context, "the lag hop is not the agreed one");
  expect_shape(evidence.lag_logits.shape(), {ticks, lags}, context + ", lag_logits");
  expect_shape(evidence.head_weights.shape(), {ticks, options.heads, lags},
               context + ", head_weights");
  expect_shape(evidence.speaking_logits.shape(), {ticks}, context + ", speaking_logits");
  expect_shape({static_cast<std::int64_t>(evidence.picture_late.size())}, {ticks},
               context + ", picture_late");
  if (evidence.width != options.width) refuse(context, "the width is not the agreed one");
  if (!boxes.empty()) {
    expect_shape({static_cast<std::int64_t>(boxes.size())}, {ticks}, context + ", boxes");
  }
}

/// No valid row holds a value that would poison a sum.
void check_values(const SyncEvidence& evidence, std::span<const AlignmentBuilder::Box> boxes,
                  const std::string& context) {
  const auto is_logit = [](float x) { return std::isfinite(x) || (std::isinf(x) && x < 0); };
  const auto is_finite = [](auto x) { return std::isfinite(x); };
  const std::int64_t lags = evidence.lag_logits.dim(1);
  const std::int64_t weights = lags * evidence.head_weights.dim(1);
  for (std::int64_t row = 0; row < evidence.lag_logits.dim(0); ++row) {
    const auto index = static_cast<std::size_t>(row);
    if (evidence.valid[index] == 0) continue;
    const float* logit = evidence.lag_logits.data() + row * lags;
    const float* weight = evidence.head_weights.data() + row * weights;
    const char* culprit = nullptr;
    if (!std::all_of(logit, logit + lags, is_logit)) culprit = "lag_logits";
    if (!std::all_of(weight, weight + weights, is_finite)) culprit = "head_weights";
    if (!is_finite(evidence.speaking_logits.data()[row])) culprit = "speaking_logits";
    if (!boxes.empty() && !std::all_of(boxes[index].begin(), boxes[index].end(), is_finite)) {
      culprit = "boxes";
    }
    if (culprit != nullptr) {
      refuse(context, std::string(culprit) + " row " + std::to_string(row) +
                          " holds a value that is not a number");
    }
  }
}

/// Turns times from the container's zero into times from the first picture or sound.
void set_origin(Alignment& alignment, MediaTime origin) {
  const MediaDuration shift = origin - MediaTime{};
  const auto move = [&](MediaDuration& time) { time = time - shift; };
  for (TimelinePoint& point : alignment.timeline) move(point.t);
  for (FaceTrack& track : alignment.tracks) {
    move(track.start);
    move(track.end);
    for (SpeakingSpan& span : track.speaking) {
      move(span.start);
      move(span.end);
    }
  }
  for (AttentionFrame& frame : alignment.attention) {
    move(frame.t);
    move(frame.audio_t);
    for (MediaDuration& time : frame.per_head_audio_t) move(time);
  }
}

void sort_by_time(Alignment& alignment) {
  const auto by_time = [](const auto& a, const auto& b) {
    return std::tie(a.t, a.track) < std::tie(b.t, b.track);
  };
  std::sort(alignment.timeline.begin(), alignment.timeline.end(), by_time);
  std::sort(alignment.attention.begin(), alignment.attention.end(), by_time);
  std::sort(alignment.tracks.begin(), alignment.tracks.end(),
            [](const FaceTrack& a, const FaceTrack& b) { return a.id < b.id; });
}

}  // namespace

class AlignmentBuilder::Impl {
 public:
  explicit Impl(const AlignmentOptions& options)
      : options_(checked(options)), grid_(options), sum_(options.lag_hop, options.width) {
    reset();
  }

  void add(int track_id, const SyncEvidence& evidence, std::span<const Box> boxes) {
    if (evidence.valid.empty()) return;
    const std::string context = "evidence of track " + std::to_string(track_id);
    if (ended_.contains(track_id)) refuse(context, "the track has ended");
    check_shapes(options_, evidence, boxes, context);
    check_values(evidence, boxes, context);
    const auto known = open_.find(track_id);
    if (known != open_.end() && evidence.ticks.start < known->second.next_tick) {
      refuse(context, "the ticks go back in time");
    }
    if (open_.empty() && ended_.empty()) grid_.anchor = evidence.ticks.start;

    OpenTrack& track = known != open_.end() ? known->second : open_track(track_id);
    const auto rows = static_cast<std::int64_t>(evidence.valid.size());
    for (std::int64_t row = 0; row < rows; ++row) {
      const auto index = static_cast<std::size_t>(row);
      if (evidence.valid[index] == 0) continue;
      const Box* box = boxes.empty() ? nullptr : &boxes[index];
      if (auto frame = track.evidence.add(evidence, row, box)) {
        forget_old(result_.attention, frame->t, options_.keep);
        result_.attention.push_back(*std::move(frame));
      }
    }
    track.next_tick = evidence.ticks.at(rows);
    if (track.evidence.speaking().waiting() > kMostWaiting) {
      track.evidence.speaking().judge(lag_probabilities());
    }
  }

  void end_track(int track_id) {
    const auto found = open_.find(track_id);
    if (found == open_.end()) return;
    TrackEvidence track = std::move(found->second.evidence);
    open_.erase(found);
    ended_.insert(track_id);
    if (track.valid_ticks() > 0) {
      track.end();
      const LagPosterior sum = track.sum();
      const double weight = sum.match_probability(options_.calibration);
      sum_.merge(sum, weight);
      heaviest_ = std::max(heaviest_, weight);
      valid_ticks_ += track.valid_ticks();
      result_.tracks.push_back(track.face_track());
      const std::vector<TimelinePoint> points = track.timeline();
      result_.timeline.insert(result_.timeline.end(), points.begin(), points.end());
      waiting_ += track.speaking().waiting();
      speaking_.insert_or_assign(track_id, std::move(track.speaking()));
      if (waiting_ > kMostWaiting) judge_waiting();
      forget_results_before(result_.tracks.back().end);
    }
  }

  std::vector<TrackState> open_tracks() const {
    std::vector<TrackState> states;
    const std::vector<double> lags = lag_probabilities();
    for (const auto& [id, track] : open_) {
      if (track.evidence.valid_ticks() > 0) states.push_back(track.evidence.state(lags));
    }
    return states;
  }

  /// What the tracks that have ended amount to.
  Decision decision(const MeasurementContext& context) const {
    LagPosterior evidence(options_.lag_hop, options_.width);
    if (heaviest_ > 0) evidence.merge(sum_, 1 / heaviest_);
    return decide(context, options_, evidence, heaviest_, valid_ticks_,
                  static_cast<std::int64_t>(result_.tracks.size()));
  }

  Alignment finish(const MeasurementContext& context) {
    while (!open_.empty()) end_track(open_.begin()->first);
    judge_waiting();
    for (FaceTrack& track : result_.tracks) {
      track.speaking = speaking_.at(track.id).within(MediaTime{} + track.start,
                                                     MediaTime{} + track.end);
    }
    Decision decision = this->decision(context);
    result_.status = decision.status;
    result_.reason = std::move(decision.reason);
    result_.offset = decision.offset;
    result_.at_search_edge = decision.at_search_edge;
    // Without speech (or enough of anything) numbers of parts of the file mean nothing either.
    if (decision.status != AlignmentStatus::kMeasured &&
        decision.status != AlignmentStatus::kAmbiguous) {
      result_.timeline.clear();
      for (FaceTrack& track : result_.tracks) track.offset.reset();
    }
    set_origin(result_, context.origin);
    sort_by_time(result_);
    Alignment result = std::move(result_);
    reset();
    return result;
  }

 private:
  struct OpenTrack {
    TrackEvidence evidence;
    MediaTime next_tick;
  };

  OpenTrack& open_track(int track_id) {
    return open_.emplace(track_id, OpenTrack{TrackEvidence(track_id, options_, grid_), {}})
        .first->second;
  }

  void forget_results_before(MediaDuration now) {
    if (options_.keep.us <= 0) return;
    forget_old(result_.timeline, now, options_.keep);
    std::erase_if(result_.tracks, [&](const FaceTrack& track) {
      const bool is_old = track.end < now - options_.keep;
      if (is_old) speaking_.erase(track.id);
      return is_old;
    });
  }

  /// Of the file, from all tracks so far.
  std::vector<double> lag_probabilities() const {
    LagPosterior sum = sum_;
    double heaviest = heaviest_;
    for (const auto& [id, track] : open_) {
      const LagPosterior own = track.evidence.sum();
      const double weight = own.match_probability(options_.calibration);
      sum.merge(own, weight);
      heaviest = std::max(heaviest, weight);
    }
    LagPosterior evidence(options_.lag_hop, options_.width);
    if (heaviest > 0) evidence.merge(sum, 1 / heaviest);
    return evidence.probabilities(options_.calibration);
  }

  void judge_waiting() {
    if (waiting_ == 0) return;
    const std::vector<double> lags = lag_probabilities();
    for (auto& [id, speaking] : speaking_) speaking.judge(lags);
    waiting_ = 0;
  }

  void reset() {
    open_.clear();
    ended_.clear();
    speaking_.clear();
    waiting_ = 0;
    valid_ticks_ = 0;
    heaviest_ = 0;
    sum_ = LagPosterior(options_.lag_hop, options_.width);
    result_ = Alignment();
    result_.attention_hop = options_.attention_hop;
    result_.attention_heads = static_cast<int>(options_.heads);
  }

  AlignmentOptions options_;
  BinGrid grid_;
  std::map<int, OpenTrack> open_;
  std::set<int> ended_;
  std::map<int, SpeakingActivity> speaking_;  // of the ended tracks that are kept
  std::size_t waiting_ = 0;                   // steps of theirs that wait for the lag of the file
  std::int64_t valid_ticks_ = 0;
  LagPosterior sum_;     // of the ended tracks, each times its match probability
  double heaviest_ = 0;  // largest of these probabilities
  Alignment result_;
};

AlignmentBuilder::AlignmentBuilder(const AlignmentOptions& options)
    : impl_(std::make_unique<Impl>(options)) {}
AlignmentBuilder::~AlignmentBuilder() = default;
AlignmentBuilder::AlignmentBuilder(AlignmentBuilder&&) noexcept = default;
AlignmentBuilder& AlignmentBuilder::operator=(AlignmentBuilder&&) noexcept = default;

void AlignmentBuilder::add(int track_id, const SyncEvidence& evidence, std::span<const Box> boxes) {
  impl_->add(track_id, evidence, boxes);
}

void AlignmentBuilder::end_track(int track_id) { impl_->end_track(track_id); }

std::vector<TrackState> AlignmentBuilder::open_tracks() const { return impl_->open_tracks(); }

std::optional<Offset> AlignmentBuilder::offset_so_far(const MeasurementContext& context) const {
  return impl_->decision(context).offset;
}

Alignment AlignmentBuilder::finish(const MeasurementContext& context) {
  return impl_->finish(context);
}

}  // namespace av_fusion
