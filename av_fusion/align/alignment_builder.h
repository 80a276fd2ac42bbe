// Copyright 2026 The av_fusion authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "av_fusion/align/alignment.h"
#include "av_fusion/align/alignment_options.h"
#include "av_fusion/align/measurement_context.h"
#include "av_fusion/align/track_state.h"
#include "av_fusion/model/sync_evidence.h"

namespace av_fusion {

/// Collects the model's evidence of any number of faces, in pieces of any length, and says at the
/// end what it amounts to. The cut into pieces does not change any number.
///
/// The offset of a track and of each stretch of the timeline sums the evidence of its ticks. The
/// offset of the file sums the tracks, each weighted by the probability that the face makes the
/// sound, relative to the surest face: a silent listener decides nothing.
///
/// A face speaks where it agrees with the sound at the lag of its own surroundings, if those are
/// sure of one, else at that of the file. Steps of a fifth of a second wait for either; if more than
/// five minutes of a face wait, or of all faces that have gone, they are judged at the lag of the
/// file as it is known by then.
///
/// Memory: for each track that has not ended, one vector of 2 width + 1 sums for each second (or
/// `hop`, if that is shorter) of one `window`, and one of floats for each step that waits; of
/// everything before that only results, some hundred bytes a second. One thread at a time.
class AlignmentBuilder {
 public:
  /// Upright x, y, width, height of a face in pixels of the upright picture.
  using Box = std::array<double, 4>;

  /// Throws `Error(kInvalidArgument)` naming the field that makes no sense.
  explicit AlignmentBuilder(const AlignmentOptions& options);
  ~AlignmentBuilder();
  AlignmentBuilder(AlignmentBuilder&&) noexcept;
  AlignmentBuilder& operator=(AlignmentBuilder&&) noexcept;

  /// Adds the next ticks of a track; the first call with a new `track_id` begins the track. `boxes`
  /// [T] or empty. Ticks of one track must come in order of time; gaps are allowed. A lag column of
  /// a row in which the logit and all heads' weights are exactly 0 was masked (no sound there) and
  /// counts as no evidence. Throws `Error(kShapeMismatch)` or `Error(kInvalidArgument)`, with
  /// nothing added, if the evidence does not fit the options or the track has ended.
  void add(int track_id, const SyncEvidence& evidence, std::span<const Box> boxes = {});

  /// The face is gone for good: its results are computed and its evidence is released. Unknown and
  /// ended tracks are ignored.
  void end_track(int track_id);

  /// What is known of the tracks that have not ended, by id.
  std::vector<TrackState> open_tracks() const;

  /// The offset that `finish` would return of the tracks that have ended; nothing if it would not
  /// be measured.
  std::optional<Offset> offset_so_far(const MeasurementContext& context) const;

  /// Ends all tracks and returns the result; the builder is empty afterwards and can be used again.
  Alignment finish(const MeasurementContext& context);

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace av_fusion
