// Copyright 2026 The av_fusion authors. SPDX-License-Identifier: Apache-2.0
#include "av_fusion/align/private/decision.h"

#include <utility>

#include "av_fusion/core/format_fixed.h"

namespace av_fusion {
namespace {

using Status = AlignmentStatus;

constexpr MediaDuration kMoment = MediaDuration::from_ms(1000);

std::string seconds_text(MediaDuration duration) {
  return format_fixed(duration.seconds(), 2) + " s";
}

Decision not_measured(Status status, std::string reason) {
  return {status, std::move(reason), std::nullopt, false};
}

std::string seen_text(const MeasurementContext& context) {
  return "a face was seen in " + std::to_string(context.pictures_with_face) + " of " +
         std::to_string(context.pictures) + " pictures";
}

/// Less than half of the pictures show a face. If that is not enough to measure, it is for want of
/// a face, not of time: a glimpse, or a pattern that looked like one.
bool is_face_rare(const MeasurementContext& context) {
  return 2 * context.pictures_with_face < context.pictures;
}

Decision glimpse(const MeasurementContext& context) {
  return not_measured(Status::kNoFace, seen_text(context) + ", too briefly each time");
}

/// What keeps a file from being measured whatever its evidence says.
std::optional<Decision> find_obstacle(const MeasurementContext& context,
                                      const AlignmentOptions& options, std::int64_t valid_ticks) {
  const std::string pictures = std::to_string(context.pictures);
  if (!context.has_video) return not_measured(Status::kNoVideo, "the input has no pictures");
  if (!context.has_audio) return not_measured(Status::kNoAudio, "the input has no sound");
  if (context.pictures < options.min_ticks) {
    return not_measured(Status::kTooShort, "the input has " + pictures + " pictures, " +
                                               std::to_string(options.min_ticks) + " are needed");
  }
  if (context.pictures_with_face < options.min_ticks) {
    return not_measured(Status::kNoFace, seen_text(context));
  }
  if (valid_ticks < options.min_ticks) {
    if (is_face_rare(context)) return glimpse(context);
    return not_measured(Status::kTooShort, "a mouth was in view together with sound for " +
                                               seconds_text(options.tick_hop * valid_ticks) + ", " +
                                               seconds_text(options.tick_hop * options.min_ticks) +
                                               " are needed");
  }
  if (context.speech < options.min_speech) {
    return not_measured(Status::kNoSpeech, "there is " + seconds_text(context.speech) +
                                               " of speech in " + seconds_text(context.sound) +
                                               " of sound, " + seconds_text(options.min_speech) +
                                               " are needed");
  }
  return std::nullopt;
}

std::string ambiguity(const LagEstimate& estimate, const AlignmentOptions& options) {
  const auto needed = [](double probability) {
    return ", " + format_fixed(probability, 2) + " is needed)";
  };
  if (estimate.at_edge) {
    const double range_ms = (options.lag_hop * options.width).ms();
    return "the best match lies at the edge of the search range of " + format_fixed(range_ms, 0) +
           " ms each way, so the true offset may lie beyond it";
  }
  if (estimate.match_probability < options.min_match) {
    return "no face in view seems to make the sound (probability " +
           format_fixed(estimate.match_probability, 2) + needed(options.min_match);
  }
  return "picture and sound do not agree on one offset (confidence " +
         format_fixed(estimate.offset.confidence, 2) + needed(options.min_confidence);
}

}  // namespace

bool is_measurement(const LagEstimate& estimate, const AlignmentOptions& options) {
  return !estimate.at_edge && estimate.match_probability >= options.min_match &&
         estimate.offset.confidence >= options.min_confidence;
}

Decision decide(const MeasurementContext& context, const AlignmentOptions& options,
                const LagPosterior& evidence, double match_probability, std::int64_t valid_ticks,
                std::int64_t tracks) {
  if (std::optional<Decision> obstacle = find_obstacle(context, options, valid_ticks)) {
    return *std::move(obstacle);
  }
  const LagEstimate estimate = evidence.estimate(options.calibration, match_probability);
  if (!is_measurement(estimate, options)) {
    const bool is_moment = options.tick_hop * valid_ticks < kMoment;
    if (is_moment && is_face_rare(context)) return glimpse(context);
    return {Status::kAmbiguous, ambiguity(estimate, options), std::nullopt, estimate.at_edge};
  }
  return {Status::kMeasured,
          "measured from " + seconds_text(options.tick_hop * valid_ticks) + " of " +
              std::to_string(tracks) + (tracks == 1 ? " face" : " faces"),
          estimate.offset, false};
}

}  // namespace av_fusion
