// Copyright 2026 The av_fusion authors. SPDX-License-Identifier: Apache-2.0
#include "av_fusion/align/private/speaking_activity.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "av_fusion/align/alignment_builder.h"
#include "tests/align/synthetic_evidence.h"

namespace av_fusion {
namespace {

using testing::good_context;
using testing::make_evidence;
using testing::Noise;
using testing::SyntheticTrack;

constexpr float kNoSound = -std::numeric_limits<float>::infinity();
constexpr std::size_t kLags = 21;
constexpr std::size_t kReach = 2;
constexpr SpeakingCalibration kFitted = {
    .scale = 0.5, .head = 0.9, .bias = 0.5, .start = 0.1, .stop = 0.25};

struct Tick {
  std::vector<float> lag_logits;
  double speaking_logit = 0;
};

MediaTime time_of(std::size_t tick) {
  return MediaTime::from_seconds(3) + MediaDuration{40'000} * static_cast<std::int64_t>(tick);
}

std::vector<Tick> random_ticks(std::size_t count, unsigned seed) {
  Noise noise(seed);
  std::vector<Tick> ticks(count);
  for (Tick& tick : ticks) {
    for (std::size_t l = 0; l < kLags; ++l) {
      tick.lag_logits.push_back(static_cast<float>(4 * noise() + 9));
    }
    tick.speaking_logit = 3 * noise();
  }
  return ticks;
}

std::vector<double> some_probabilities() {
  std::vector<double> p(kLags, 0.01);
  p[0] = 0.2;  // at the edge fewer lags are near
  p[7] = 0.5;
  p[8] = 0.12;
  return p;
}

SpeakingActivity activity_of(const std::vector<Tick>& ticks,
                             const SpeakingCalibration& calibration = kFitted) {
  SpeakingActivity activity(time_of(0), kReach, calibration);
  for (std::size_t t = 0; t < ticks.size(); ++t) {
    activity.add(time_of(t), ticks[t].lag_logits, ticks[t].speaking_logit);
  }
  return activity;
}

/// The formula of speaking_calibration.h for ticks `begin` .. `end`.
double expected_log_odds(const std::vector<Tick>& ticks, std::size_t begin, std::size_t end,
                         const std::vector<double>& probabilities) {
  double evidence = 0;
  double speaking = 0;
  for (std::size_t t = begin; t < end; ++t) {
    const std::vector<float>& row = ticks[t].lag_logits;
    double mean = 0;
    double heard = 0;
    for (const float x : row) {
      if (x == kNoSound) continue;
      mean += x;
      heard += 1;
    }
    mean /= heard;
    for (std::size_t lag = 0; lag < kLags; ++lag) {
      double near = 0;
      double count = 0;
      for (std::size_t l = 0; l < kLags; ++l) {
        if (std::abs(static_cast<int>(l) - static_cast<int>(lag)) > static_cast<int>(kReach)) {
          continue;
        }
        near += row[l] == kNoSound ? 0 : row[l] - mean;
        count += 1;
      }
      evidence += probabilities[lag] * near / count;
    }
    speaking += ticks[t].speaking_logit;
  }
  const auto n = static_cast<double>(end - begin);
  return kFitted.scale * evidence / n + kFitted.head * speaking / n + kFitted.bias;
}

/// Probability that each step is spoken: the sum over all 2^N ways to speak and be silent.
std::vector<double> by_all_sequences(const std::vector<double>& log_odds,
                                     const SpeakingCalibration& c) {
  std::vector<double> spoken(log_odds.size());
  double all = 0;
  for (unsigned way = 0; way < (1u << log_odds.size()); ++way) {
    const auto speaks = [&](std::size_t i) { return ((way >> i) & 1u) != 0; };
    double p = (speaks(0) ? c.start : c.stop) / (c.start + c.stop);
    for (std::size_t i = 0; i < log_odds.size(); ++i) {
      if (i > 0) {
        const double change = speaks(i - 1) ? c.stop : c.start;
        p *= speaks(i) == speaks(i - 1) ? 1 - change : change;
      }
      if (speaks(i)) p *= std::exp(log_odds[i]);
    }
    all += p;
    for (std::size_t i = 0; i < log_odds.size(); ++i) spoken[i] += speaks(i) ? p : 0;
  }
  for (double& p : spoken) p /= all;
  return spoken;
}

/// The value of each step as its spans show it; a step outside of all of them has none.
void expect_spans(const std::vector<SpeakingSpan>& spans, const std::vector<double>& expected) {
  std::size_t next = 0;
  for (std::size_t i = 0; i < expected.size();) {
    if (expected[i] < 0.5) {
      ++i;
      continue;
    }
    const std::size_t first = i;
    double sum = 0;
    for (; i < expected.size() && expected[i] >= 0.5; ++i) sum += expected[i];
    ASSERT_LT(next, spans.size());
    EXPECT_NEAR(spans[next].start.seconds(), 3 + 0.2 * static_cast<double>(first), 1e-9);
    EXPECT_NEAR(spans[next].end.seconds(), 3 + 0.2 * static_cast<double>(i), 1e-9);
    EXPECT_NEAR(spans[next].probability, sum / static_cast<double>(i - first), 1e-6);
    ++next;
  }
  EXPECT_EQ(next, spans.size());
}

TEST(SpeakingActivity, IsTheSumOverAllWaysToSpeak) {
  int spans_seen = 0;
  for (unsigned seed = 1; seed <= 20; ++seed) {
    std::vector<Tick> ticks = random_ticks(48, seed);  // nine steps and three ticks
    ticks[11].lag_logits[7] = kNoSound;
    SpeakingActivity activity = activity_of(ticks);
    EXPECT_EQ(activity.waiting(), 9u) << "the last step is not complete";
    activity.end();
    activity.judge(some_probabilities());
    EXPECT_EQ(activity.waiting(), 0u);
    std::vector<double> log_odds;
    for (std::size_t begin = 0; begin < 48; begin += 5) {
      log_odds.push_back(
          expected_log_odds(ticks, begin, std::min<std::size_t>(begin + 5, 48),
                            some_probabilities()));
    }
    const auto spans = activity.within(time_of(0), time_of(50));
    expect_spans(spans, by_all_sequences(log_odds, kFitted));
    spans_seen += static_cast<int>(spans.size());
  }
  EXPECT_GT(spans_seen, 10);
}

TEST(SpeakingActivity, LatestIsTheLastStepGivenThoseBefore) {
  const std::vector<Tick> ticks = random_ticks(43, 5);
  SpeakingActivity activity = activity_of({ticks.begin(), ticks.begin() + 22});
  activity.judge(some_probabilities());
  for (std::size_t t = 22; t < ticks.size(); ++t) {
    activity.add(time_of(t), ticks[t].lag_logits, ticks[t].speaking_logit);
  }
  std::vector<double> log_odds;
  for (std::size_t begin = 0; begin < 43; begin += 5) {
    log_odds.push_back(expected_log_odds(ticks, begin, std::min<std::size_t>(begin + 5, 43),
                                         some_probabilities()));
  }
  EXPECT_NEAR(activity.latest(some_probabilities()), by_all_sequences(log_odds, kFitted).back(),
              1e-6);
  EXPECT_EQ(SpeakingActivity(time_of(0), kReach, kFitted).latest(some_probabilities()), 0);
}

TEST(SpeakingActivity, AHoleHasNoEvidence) {
  const std::vector<Tick> ticks = random_ticks(45, 11);
  SpeakingActivity activity(time_of(0), kReach, kFitted);
  std::vector<double> log_odds;
  for (std::size_t begin = 0; begin < 45; begin += 5) {
    const bool is_hole = begin >= 15 && begin < 25;
    log_odds.push_back(
        is_hole ? 0 : expected_log_odds(ticks, begin, begin + 5, some_probabilities()));
    for (std::size_t t = begin; t < begin + 5 && !is_hole; ++t) {
      activity.add(time_of(t), ticks[t].lag_logits, ticks[t].speaking_logit);
    }
  }
  activity.end();
  activity.judge(some_probabilities());
  expect_spans(activity.within(time_of(0), time_of(45)), by_all_sequences(log_odds, kFitted));
}

TEST(SpeakingActivity, AHoleOfYearsCostsNothing) {
  const std::vector<Tick> ticks = random_ticks(25, 11);
  std::vector<double> log_odds;
  for (std::size_t begin = 0; begin < 25; begin += 5) {
    log_odds.push_back(expected_log_odds(ticks, begin, begin + 5, some_probabilities()));
  }
  SpeakingActivity activity = activity_of(ticks);
  const MediaDuration years = MediaDuration::from_seconds(100.0 * 365 * 86400);
  for (std::size_t t = 0; t < ticks.size(); ++t) {
    activity.add(time_of(t) + years, ticks[t].lag_logits, ticks[t].speaking_logit);
  }
  // The face of long ago says nothing of now, whether its steps are judged yet or not.
  const std::vector<double> expected = by_all_sequences(log_odds, kFitted);
  EXPECT_NEAR(activity.latest(some_probabilities()), expected.back(), 1e-6);
  activity.judge(some_probabilities());
  EXPECT_NEAR(activity.latest(some_probabilities()), expected.back(), 1e-6);
  activity.end();
  activity.judge(some_probabilities());
  std::vector<SpeakingSpan> spans = activity.within(time_of(0), time_of(50) + years);
  ASSERT_GE(spans.size(), 2u);
  ASSERT_EQ(spans.size() % 2, 0u);
  const auto now = spans.begin() + static_cast<std::ptrdiff_t>(spans.size() / 2);
  expect_spans({spans.begin(), now}, expected);
  for (auto span = now; span != spans.end(); ++span) {
    span->start = span->start - years;
    span->end = span->end - years;
  }
  expect_spans({now, spans.end()}, expected);
}

TEST(SpeakingActivity, ForgetsWhatIsOver) {
  SpeakingCalibration memoryless = {.scale = 0, .head = 1, .bias = 0, .start = 0.5, .stop = 0.5};
  std::vector<Tick> ticks = random_ticks(50, 1);
  for (Tick& tick : ticks) tick.speaking_logit = 4;
  SpeakingActivity activity = activity_of(ticks, memoryless);
  activity.end();
  activity.judge(some_probabilities());
  activity.forget_before(time_of(17));  // in the fourth step, which stays
  const auto spans = activity.within(time_of(0), time_of(50));
  ASSERT_EQ(spans.size(), 1u);
  EXPECT_NEAR(spans[0].start.seconds(), 3.6, 1e-9);
  EXPECT_NEAR(spans[0].end.seconds(), 5, 1e-9);
}

TEST(SpeakingActivity, EndlessCertaintyStaysANumber) {
  SpeakingCalibration sure = {.scale = 0, .head = 1e6, .bias = 0, .start = 1e-9, .stop = 1e-9};
  std::vector<Tick> ticks = random_ticks(100, 1);
  for (std::size_t t = 0; t < 100; ++t) ticks[t].speaking_logit = t < 50 ? 1 : -1;
  SpeakingActivity activity = activity_of(ticks, sure);
  activity.end();
  activity.judge(some_probabilities());
  const auto spans = activity.within(time_of(0), time_of(100));
  ASSERT_EQ(spans.size(), 1u);
  EXPECT_NEAR(spans[0].end.seconds(), 5, 1e-9);
  EXPECT_GT(spans[0].probability, 0.999);
}

// ------------------------------------------------------------------------------- in a whole file

/// Speaking is told from the sound alone: all faces have the same speaking logits.
AlignmentOptions options_for_files() {
  AlignmentOptions options = testing::options_for_tests();
  options.speaking = {.scale = 2, .head = 0, .bias = -2, .start = 0.1, .stop = 0.1};
  return options;
}

SyntheticTrack face(double lag_ms, std::int64_t ticks, double start_s, unsigned seed) {
  SyntheticTrack track;
  track.ticks = ticks;
  track.start = MediaTime::from_seconds(start_s);
  track.noise = 0.5;
  track.seed = seed;
  track.lag_ms = [=](std::int64_t) { return lag_ms; };
  return track;
}

double speaking_seconds(const FaceTrack& track) {
  double sum = 0;
  for (const SpeakingSpan& span : track.speaking) sum += (span.end - span.start).seconds();
  return sum;
}

TEST(AlignmentBuilder, AFaceSpeaksIfItAgreesAtTheLagOfTheFile) {
  // The listener's mouth agrees with the sound at 0, 200 and -200 ms in turn: no lag of its own.
  SyntheticTrack listener = face(0, 250, 0, 3);
  listener.lag_ms = [](std::int64_t t) { return 200.0 * static_cast<double>(t / 10 % 3 - 1); };
  // The listener is gone before anybody speaks.
  AlignmentBuilder builder(options_for_files());
  builder.add(1, make_evidence(listener));
  builder.end_track(1);
  builder.add(2, make_evidence(face(80, 250, 10, 4)));
  const Alignment alignment = builder.finish(good_context());
  ASSERT_EQ(alignment.tracks.size(), 2u);
  EXPECT_LT(speaking_seconds(alignment.tracks[0]), 0.5);
  EXPECT_NEAR(speaking_seconds(alignment.tracks[1]), 10, 0.5);
}

TEST(AlignmentBuilder, AFaceSpeaksOnWhereTheOffsetChanges) {
  SyntheticTrack edited = face(0, 1000, 0, 5);
  edited.lag_ms = [](std::int64_t t) { return t < 750 ? -160.0 : 240.0; };
  AlignmentBuilder builder(options_for_files());
  builder.add(1, make_evidence(edited));
  const Alignment alignment = builder.finish(good_context());
  EXPECT_GT(speaking_seconds(alignment.tracks.at(0)), 38) << "of 40, the cut in a stretch of 4";
}

TEST(AlignmentBuilder, OpenTracksKnowWhoSpeaksAtTheLagOfTheOthers) {
  AlignmentBuilder builder(options_for_files());
  builder.add(1, make_evidence(face(80, 75, 0, 6)));   // 3 s: no stretch is complete
  builder.add(2, make_evidence(face(-200, 5, 2, 7)));  // another lag, too short to have it
  builder.add(3, make_evidence(face(80, 5, 2, 8)));
  const std::vector<TrackState> states = builder.open_tracks();
  ASSERT_EQ(states.size(), 3u);
  EXPECT_GT(states[0].speaking, 0.9);
  EXPECT_LT(states[1].speaking, 0.5);
  EXPECT_GT(states[2].speaking, 0.5);
}

/// Agrees with the sound at -200 ms, but so weakly that no stretch is sure of it.
SyntheticTrack doubtful_face(std::int64_t ticks, double start_s) {
  SyntheticTrack track = face(-200, ticks, start_s, 1);
  track.noise = 0;
  track.peak = 0.25;
  return track;
}

AlignmentOptions options_for_doubt() {
  AlignmentOptions options = options_for_files();
  options.speaking = {.scale = 2, .head = 0, .bias = -0.1, .start = 0.5, .stop = 0.5};
  return options;
}

TEST(AlignmentBuilder, FiveMinutesOfAFaceWaitForTheLagOfTheFile) {
  AlignmentBuilder builder(options_for_doubt());
  const SyncEvidence evidence = make_evidence(doubtful_face(9000, 0));  // 6 min
  for (std::int64_t at = 0; at < 9000; at += 50) builder.add(1, testing::cut(evidence, at, at + 50));
  builder.add(2, make_evidence(face(80, 250, 360, 4)));
  const Alignment alignment = builder.finish(good_context());
  // The first five minutes knew of -200 ms alone, the last one learns that the lag is 80 ms.
  ASSERT_EQ(alignment.tracks.at(0).speaking.size(), 1u);
  EXPECT_NEAR(alignment.tracks[0].speaking[0].end.seconds(), 300, 3);
}

TEST(AlignmentBuilder, FiveMinutesOfAllFacesThatAreGoneWait) {
  AlignmentBuilder builder(options_for_doubt());
  for (int minute = 0; minute < 7; ++minute) {
    builder.add(minute, make_evidence(doubtful_face(1500, 60.0 * minute)));
    builder.end_track(minute);
  }
  builder.add(7, make_evidence(face(80, 250, 420, 4)));
  const Alignment alignment = builder.finish(good_context());
  ASSERT_EQ(alignment.tracks.size(), 8u);
  for (std::size_t minute = 0; minute < 7; ++minute) {
    EXPECT_NEAR(speaking_seconds(alignment.tracks[minute]), minute < 6 ? 60 : 0, 1) << minute;
  }
}

TEST(AlignmentBuilder, SpansOlderThanKeepAreForgotten) {
  AlignmentOptions options = options_for_files();
  options.keep = MediaDuration::from_seconds(6);
  AlignmentBuilder builder(options);
  builder.add(1, make_evidence(face(80, 1000, 0, 4)));
  const Alignment alignment = builder.finish(good_context());
  ASSERT_EQ(alignment.tracks.at(0).speaking.size(), 1u);
  EXPECT_NEAR(alignment.tracks[0].speaking[0].start.seconds(), 34, 0.3);
  EXPECT_NEAR(alignment.tracks[0].speaking[0].end.seconds(), 40, 1e-9);
}

}  // namespace
}  // namespace av_fusion
