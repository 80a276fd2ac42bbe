// Copyright 2026 The av_fusion authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "av_fusion/align/face_track.h"
#include "av_fusion/core/media_time.h"

namespace av_fusion {

/// Gathers when one face speaks from its ticks, in steps of a fifth of a second. Holds the spans
/// and one step.
class SpeakingSpans {
 public:
  /// `anchor`: where the first step of the file begins.
  explicit SpeakingSpans(MediaTime anchor) : anchor_(anchor) {}

  /// Ticks come in order of time.
  void add(MediaTime tick, double speaking_logit);

  /// Probability in the latest step; 0 before the first tick.
  double latest() const;

  /// The spans so far, cut to `first` .. `end`; times from the container's zero.
  std::vector<SpeakingSpan> within(MediaTime first, MediaTime end) const;

 private:
  struct Step {
    std::int64_t slot = 0;
    double logit_sum = 0;
    double ticks = 0;
  };

  /// A sum of probabilities, one for each tick.
  struct Mass {
    double probability = 0;
    double ticks = 0;
  };

  struct Span {
    std::int64_t first, last;  // slots
    Mass mass;
  };

  void close_step();

  MediaTime anchor_;
  Step step_;  // the one that is open
  std::vector<Span> spans_;
  Mass pause_;  // since the last span
};

}  // namespace av_fusion
