// Copyright 2026 The av_fusion authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <cstdint>
#include <functional>
#include <random>
#include <vector>

#include "av_fusion/align/alignment_options.h"
#include "av_fusion/align/measurement_context.h"
#include "av_fusion/model/sync_evidence.h"

namespace av_fusion::testing {

/// Evidence as a model would give it for a sound of which the lag is known.
struct SyntheticTrack {
  std::int64_t ticks = 100;
  MediaTime start;
  std::int64_t width = 50;
  std::int64_t heads = 2;
  double noise = 0;            ///< standard deviation of each logit
  double peak = 3;             ///< height of the hill of logits
  double hill_ms = 25;         ///< its standard deviation
  double row_constant = -7;    ///< on every logit of a row; means nothing
  double speaking_logit = 4;   ///< if `speaking` is not set
  double picture_late_ms = 0;  ///< true picture time minus tick
  unsigned seed = 1;
  /// Sound time minus true picture time in ms of each tick: > 0 is sound late.
  std::function<double(std::int64_t tick)> lag_ms = [](std::int64_t) { return 0.0; };
  std::function<double(std::int64_t tick)> speaking;
};

/// A file with pictures, a face in each, and speech.
inline MeasurementContext good_context() {
  MeasurementContext context;
  context.has_video = true;
  context.has_audio = true;
  context.pictures = 1000;
  context.pictures_with_face = 1000;
  context.speech = MediaDuration::from_seconds(10);
  context.sound = MediaDuration::from_seconds(40);
  return context;
}

/// For evidence as high as that of `SyntheticTrack`.
inline AlignmentOptions options_for_tests() {
  AlignmentOptions options;
  options.width = 50;
  options.heads = 2;
  options.calibration.evidence_scale = 0.1;
  options.calibration.match_scale = 6;
  options.calibration.match_bias = -2;
  return options;
}

/// Standard normal numbers that do not depend on the standard library's distributions.
class Noise {
 public:
  explicit Noise(unsigned seed) : engine_(seed) {}
  double operator()() {
    double sum = -6;
    for (int i = 0; i < 12; ++i) sum += static_cast<double>(engine_()) / 4294967296.0;
    return sum;
  }

 private:
  std::mt19937 engine_;
};

/// Weights of each head: softmax of the row's logits.
inline void fill_head_weights(SyncEvidence& evidence, std::int64_t row) {
  const std::int64_t lags = 2 * evidence.width + 1;
  const std::int64_t heads = evidence.head_weights.dim(1);
  const float* logits = evidence.lag_logits.data() + row * lags;
  double sum = 0;
  for (std::int64_t l = 0; l < lags; ++l) sum += std::exp(static_cast<double>(logits[l]));
  for (std::int64_t h = 0; h < heads; ++h) {
    float* weights = evidence.head_weights.data() + (row * heads + h) * lags;
    for (std::int64_t l = 0; l < lags; ++l) {
      weights[l] = static_cast<float>(std::exp(static_cast<double>(logits[l])) / sum);
    }
  }
}

inline SyncEvidence make_evidence(const SyntheticTrack& track) {
  const std::int64_t lags = 2 * track.width + 1;
  SyncEvidence evidence;
  evidence.ticks = {track.start, {40'000}};
  evidence.lag_hop = {10'000};
  evidence.width = track.width;
  evidence.lag_logits = Tensor<float>({track.ticks, lags});
  evidence.head_weights = Tensor<float>({track.ticks, track.heads, lags});
  evidence.speaking_logits = Tensor<float>({track.ticks});
  evidence.picture_late.assign(static_cast<std::size_t>(track.ticks),
                               MediaDuration::from_ms(track.picture_late_ms));
  evidence.valid.assign(static_cast<std::size_t>(track.ticks), 1);
  Noise noise(track.seed);
  for (std::int64_t t = 0; t < track.ticks; ++t) {
    // The sound is heard at picture + lag = tick + picture_late + lag.
    const double from_tick_ms = track.picture_late_ms + track.lag_ms(t);
    for (std::int64_t l = 0; l < lags; ++l) {
      const double distance =
          (10.0 * static_cast<double>(l - track.width) - from_tick_ms) / track.hill_ms;
      evidence.lag_logits.view()(t, l) = static_cast<float>(
          track.row_constant + track.peak * std::exp(-0.5 * distance * distance) +
          track.noise * noise());
    }
    fill_head_weights(evidence, t);
    evidence.speaking_logits.view()(t) =
        static_cast<float>(track.speaking ? track.speaking(t) : track.speaking_logit);
  }
  return evidence;
}

/// Rows `begin` to `end` as a parcel of their own.
inline SyncEvidence cut(const SyncEvidence& whole, std::int64_t begin, std::int64_t end) {
  const std::int64_t lags = 2 * whole.width + 1;
  const std::int64_t heads = whole.head_weights.dim(1);
  SyncEvidence part;
  part.ticks = {whole.ticks.at(begin), whole.ticks.hop};
  part.lag_hop = whole.lag_hop;
  part.width = whole.width;
  part.lag_logits = Tensor<float>({end - begin, lags});
  part.head_weights = Tensor<float>({end - begin, heads, lags});
  part.speaking_logits = Tensor<float>({end - begin});
  std::copy_n(whole.lag_logits.data() + begin * lags, (end - begin) * lags, part.lag_logits.data());
  std::copy_n(whole.head_weights.data() + begin * heads * lags, (end - begin) * heads * lags,
              part.head_weights.data());
  std::copy_n(whole.speaking_logits.data() + begin, end - begin, part.speaking_logits.data());
  part.picture_late.assign(whole.picture_late.begin() + begin, whole.picture_late.begin() + end);
  part.valid.assign(whole.valid.begin() + begin, whole.valid.begin() + end);
  return part;
}

}  // namespace av_fusion::testing
