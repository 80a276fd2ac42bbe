// Copyright 2026 The av_fusion authors. SPDX-License-Identifier: Apache-2.0
#include "av_fusion/align/lag_posterior.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

#include "av_fusion/core/error.h"
#include "tests/align/synthetic_evidence.h"

namespace av_fusion {
namespace {

using testing::make_evidence;
using testing::SyntheticTrack;

constexpr float kInfinity = std::numeric_limits<float>::infinity();

LagPosterior accumulate(const SyncEvidence& evidence) {
  LagPosterior posterior(evidence.lag_hop, evidence.width);
  const auto lags = static_cast<std::size_t>(2 * evidence.width + 1);
  for (std::size_t t = 0; t < evidence.valid.size(); ++t) {
    posterior.add({evidence.lag_logits.data() + t * lags, lags}, evidence.picture_late[t]);
  }
  return posterior;
}

LagPosterior accumulate_constant_lag(double lag_ms, double noise = 0) {
  SyntheticTrack track;
  track.noise = noise;
  track.lag_ms = [=](std::int64_t) { return lag_ms; };
  return accumulate(make_evidence(track));
}

TEST(LagPosterior, ProbabilitiesMatchPlainLoops) {
  const LagCalibration calibration = {.evidence_scale = 0.21,
                                      .correlated_ticks = 37,
                                      .outlier_share = 0.03,
                                      .match_scale = 0.8,
                                      .match_bias = -0.4};
  SyntheticTrack track;
  track.ticks = 60;
  track.noise = 0.7;
  const SyncEvidence evidence = make_evidence(track);
  const std::vector<double> actual = accumulate(evidence).probabilities(calibration);

  ASSERT_EQ(actual.size(), 101u);
  const double scale = 0.21 / (1 + 60.0 / 37.0);
  std::vector<long double> expected(101);
  long double total = 0;
  for (std::int64_t l = 0; l < 101; ++l) {
    long double sum = 0;
    for (std::int64_t t = 0; t < 60; ++t) sum += evidence.lag_logits.view()(t, l);
    expected[static_cast<std::size_t>(l)] = std::exp(scale * sum);
    total += expected[static_cast<std::size_t>(l)];
  }
  for (std::size_t l = 0; l < 101; ++l) {
    const auto p = static_cast<double>(0.97L * expected[l] / total + 0.03L / 101);
    EXPECT_NEAR(actual[l], p, 1e-9) << l;
  }
  EXPECT_NEAR(std::accumulate(actual.begin(), actual.end(), 0.0), 1, 1e-12);
}

TEST(LagPosterior, ContrastComparesThePeakWithLagsBeyond120Ms) {
  LagPosterior posterior({10'000}, 20);
  std::vector<float> row(41, -7);
  row[30] = 5;
  row[18] = 4;  // 120 ms away: belongs to the peak
  row[17] = 1;  // 130 ms away: the rival
  row[40] = 0.5;
  for (int t = 0; t < 3; ++t) posterior.add(row, {});
  EXPECT_NEAR(posterior.contrast(), 4, 1e-9);
  row.assign(41, -7);
  row[40] = 2;
  LagPosterior right({10'000}, 20);
  right.add(row, {});
  EXPECT_NEAR(right.contrast(), 9, 1e-9) << "a peak at the border has rivals on one side";
  EXPECT_EQ(LagPosterior({10'000}, 20).contrast(), 0) << "without ticks";
  LagPosterior narrow({10'000}, 5);
  narrow.add(std::vector<float>{0, 0, 0, 0, 0, 9, 0, 0, 0, 0, 0}, {});
  EXPECT_EQ(narrow.contrast(), 0) << "all lags are within 120 ms";
}

TEST(LagPosterior, MatchIsSurerWithMoreTicksUpToALimit) {
  const LagCalibration calibration = {.match_scale = 0.8, .match_bias = -2, .match_ticks = 50};
  for (const double contrast : {1.0, 2.5, 6.0}) {  // against, neither, for a match
    std::vector<float> row(41);
    row[30] = static_cast<float>(contrast);
    LagPosterior posterior({10'000}, 20);
    EXPECT_EQ(posterior.match_probability(calibration), 0) << "without ticks";
    for (int ticks = 1; ticks <= 2000; ++ticks) {
      posterior.add(row, {});
      const double counted = 50.0 * ticks / (50.0 + ticks);
      const double log_odds = std::pow(counted, 0.5) * (0.8 * contrast - 2);
      ASSERT_NEAR(posterior.match_log_odds(calibration), log_odds, 1e-9);
      ASSERT_NEAR(posterior.match_probability(calibration),
                  std::exp(log_odds) / (1 + std::exp(log_odds)), 1e-9);
    }
    EXPECT_NEAR(posterior.match_log_odds(calibration), std::sqrt(50) * (0.8 * contrast - 2),
                0.1 * std::abs(contrast - 2.5) + 1e-9);
  }
}

TEST(LagPosterior, OffsetHasTheSignOfItuRBt1359) {
  for (const double lag_ms : {-400.0, -123.0, -7.5, 0.0, 4.0, 37.5, 250.0, 466.0}) {
    const LagEstimate clean = accumulate_constant_lag(lag_ms).estimate({});
    EXPECT_NEAR(clean.offset.ms, -lag_ms, 0.1);
    const LagEstimate noisy = accumulate_constant_lag(lag_ms, 1.0).estimate({});
    EXPECT_NEAR(noisy.offset.ms, -lag_ms, 3) << "with noise";
    EXPECT_FALSE(noisy.at_edge);
    EXPECT_LE(noisy.offset.low_ms, noisy.offset.ms);
    EXPECT_GE(noisy.offset.high_ms, noisy.offset.ms);
  }
  EXPECT_EQ(accumulate_constant_lag(-120).estimate({}).offset.direction(), Direction::kSoundEarly);
  EXPECT_EQ(accumulate_constant_lag(120).estimate({}).offset.direction(), Direction::kSoundLate);
  EXPECT_EQ(accumulate_constant_lag(3).estimate({}).offset.direction(), Direction::kInSync);
}

TEST(LagPosterior, VertexOfAParabolaIsExact) {
  for (const double lag_ms : {-31.3, 0.0, 14.9, 15.0, 44.2}) {
    LagPosterior posterior({10'000}, 6);
    std::vector<float> row(13);
    for (int l = 0; l < 13; ++l) {
      const double distance = 10.0 * (l - 6) - lag_ms;
      row[static_cast<std::size_t>(l)] = static_cast<float>(5 - 0.002 * distance * distance);
    }
    posterior.add(row, {});
    EXPECT_NEAR(posterior.estimate({}).offset.ms, -lag_ms, 1e-3);
  }
}

TEST(LagPosterior, LatePicturesAreTakenOff) {
  // Whatever the pictures' distance from their ticks, the offset is that of sound and picture.
  for (const double late_ms : {-16.0, 0.0, 12.0, 19.0}) {
    for (const double lag_ms : {-80.0, 0.0, 110.0}) {
      SyntheticTrack track;
      track.picture_late_ms = late_ms;
      track.lag_ms = [=](std::int64_t) { return lag_ms; };
      const LagPosterior posterior = accumulate(make_evidence(track));
      EXPECT_NEAR(posterior.mean_picture_late_ms(), late_ms, 1e-9);
      const Offset offset = posterior.estimate({}).offset;
      EXPECT_NEAR(offset.ms, -lag_ms, 0.1) << "pictures late by " << late_ms;
      EXPECT_LE(offset.low_ms, -lag_ms + 0.2);
      EXPECT_GE(offset.high_ms, -lag_ms - 0.2);
    }
  }
  // By hand: a sound heard 30 ms after the tick, with the picture shown 30 ms after it, is in sync;
  // with the picture on the tick it is 30 ms late.
  std::vector<float> row(13);
  row[6 + 3] = 5;
  LagPosterior in_sync({10'000}, 6);
  in_sync.add(row, MediaDuration::from_ms(30));
  EXPECT_NEAR(in_sync.estimate({}).offset.ms, 0, 1e-9);
  LagPosterior late({10'000}, 6);
  late.add(row, {});
  EXPECT_NEAR(late.estimate({}).offset.ms, -30, 1e-9);
}

/// Walks the density of evenly filled bins in small steps and reads interval and mass off it.
struct WalkedDensity {
  double low_lag_ms = 0, high_lag_ms = 0, within_40_ms = 0;
};

WalkedDensity walk(const std::vector<double>& posterior, double hop_ms, double lag_ms) {
  const int steps = 2000;  // a bin
  WalkedDensity result;
  double sum = 0;
  bool has_low = false, has_high = false;
  const auto width = static_cast<double>(posterior.size() / 2);
  for (std::size_t l = 0; l < posterior.size(); ++l) {
    for (int s = 0; s < steps; ++s) {
      const double at = (static_cast<double>(l) - width - 0.5 + (s + 0.5) / steps) * hop_ms;
      sum += posterior[l] / steps;
      if (!has_low && sum >= 0.025) result.low_lag_ms = at, has_low = true;
      if (!has_high && sum >= 0.975) result.high_lag_ms = at, has_high = true;
      if (std::abs(at - lag_ms) <= 40) result.within_40_ms += posterior[l] / steps;
    }
  }
  return result;
}

TEST(LagPosterior, IntervalAndConfidenceMatchAWalkOverTheDensity) {
  const LagCalibration calibration = {.evidence_scale = 0.05, .outlier_share = 0.02};
  for (const double lag_ms : {-203.0, 0.0, 91.0, 480.0}) {
    for (const int ticks : {5, 20, 80}) {
      SyntheticTrack track;
      track.ticks = ticks;
      track.noise = 0.5;
      track.picture_late_ms = 6;
      track.lag_ms = [=](std::int64_t) { return lag_ms; };
      const LagPosterior posterior = accumulate(make_evidence(track));
      const LagEstimate estimate = posterior.estimate(calibration);
      const WalkedDensity walked =
          walk(posterior.probabilities(calibration), 10, 6 - estimate.offset.ms);
      EXPECT_NEAR(estimate.offset.low_ms, std::min(estimate.offset.ms, 6 - walked.high_lag_ms),
                  0.02);
      EXPECT_NEAR(estimate.offset.high_ms, std::max(estimate.offset.ms, 6 - walked.low_lag_ms),
                  0.02);
      EXPECT_NEAR(estimate.within_40_ms, walked.within_40_ms, 1e-3);
      EXPECT_DOUBLE_EQ(estimate.offset.confidence,
                       estimate.within_40_ms * estimate.match_probability);
    }
  }
}

double interval_width(std::int64_t ticks, const LagCalibration& calibration) {
  SyntheticTrack track;
  track.ticks = ticks;
  const Offset offset = accumulate(make_evidence(track)).estimate(calibration).offset;
  return offset.high_ms - offset.low_ms;
}

TEST(LagPosterior, IntervalShrinksWithTicksUntilTheyAreCorrelated) {
  const LagCalibration independent = {.evidence_scale = 0.1};
  EXPECT_GT(interval_width(20, independent), 1.5 * interval_width(100, independent));
  EXPECT_GT(interval_width(100, independent), 1.5 * interval_width(1000, independent));
  LagCalibration correlated = independent;
  correlated.correlated_ticks = 100;
  EXPECT_GT(interval_width(1000, correlated), interval_width(1000, independent));
  // scale * n tends to evidence_scale * correlated_ticks: many ticks say no more than 100 did.
  EXPECT_NEAR(interval_width(8000, correlated), interval_width(100, independent), 0.5);
}

TEST(LagPosterior, FlatEvidenceSaysNothing) {
  SyntheticTrack track;
  track.peak = 0;
  const LagEstimate estimate = accumulate(make_evidence(track)).estimate({});
  EXPECT_FALSE(estimate.at_edge);
  EXPECT_NEAR(estimate.offset.ms, 0, 1e-9);
  EXPECT_NEAR(estimate.within_40_ms, 80.0 / 1010.0, 1e-4);
  EXPECT_NEAR(estimate.offset.high_ms - estimate.offset.low_ms, 0.95 * 1010, 0.1);

  const LagEstimate nothing = LagPosterior({10'000}, 50).estimate({});
  EXPECT_EQ(nothing.offset.confidence, 0);
  EXPECT_FALSE(nothing.at_edge);
}

TEST(LagPosterior, TheTwoOuterLagsOfEachSideAreEdges) {
  for (int peak = 0; peak < 13; ++peak) {
    LagPosterior posterior({10'000}, 6);
    std::vector<float> row(13);
    row[static_cast<std::size_t>(peak)] = 4;
    posterior.add(row, {});
    EXPECT_EQ(posterior.estimate({}).at_edge, peak < 2 || peak > 10) << peak;
  }
}

TEST(LagPosterior, MergeAddsWeightedSums) {
  const LagPosterior a = accumulate_constant_lag(-30, 0.4);
  SyntheticTrack other;
  other.ticks = 30;
  other.picture_late_ms = 9;
  const LagPosterior b = accumulate(make_evidence(other));
  LagPosterior sum = a;
  sum.merge(b, 0.25);
  for (std::size_t l = 0; l < 101; ++l) {
    EXPECT_DOUBLE_EQ(sum.evidence()[l], a.evidence()[l] + 0.25 * b.evidence()[l]);
  }
  EXPECT_DOUBLE_EQ(sum.num_ticks(), 100 + 7.5);
  EXPECT_NEAR(sum.mean_picture_late_ms(), 7.5 * 9 / 107.5, 1e-9);
  EXPECT_THROW(sum.merge(LagPosterior({10'000}, 49)), Error);
  EXPECT_THROW(sum.merge(LagPosterior({20'000}, 50)), Error);
  EXPECT_THROW(sum.merge(b, -1), Error);
}

TEST(LagPosterior, LagsWithoutSoundCountAsTheMeanOfTheRow) {
  LagPosterior posterior({10'000}, 2);
  posterior.add(std::vector<float>{-kInfinity, -9, -3, -6, -kInfinity}, {});
  const std::vector<double> expected = {-6, -9, -3, -6, -6};
  for (std::size_t l = 0; l < 5; ++l) EXPECT_DOUBLE_EQ(posterior.evidence()[l], expected[l]);
  posterior.add(std::vector<float>(5, -kInfinity), {});
  EXPECT_EQ(posterior.num_ticks(), 1) << "a row without sound is no evidence";
}

TEST(LagPosterior, RefusesWhatIsNoEvidence) {
  LagPosterior posterior({10'000}, 2);
  const float nan = std::numeric_limits<float>::quiet_NaN();
  EXPECT_THROW(posterior.add(std::vector<float>(4), {}), Error);
  EXPECT_THROW(posterior.add(std::vector<float>{0, 0, nan, 0, 0}, {}), Error);
  EXPECT_THROW(posterior.add(std::vector<float>{0, kInfinity, 0, 0, 0}, {}), Error);
  EXPECT_EQ(posterior.num_ticks(), 0);
  for (const double sum : posterior.evidence()) EXPECT_EQ(sum, 0);
  EXPECT_THROW(LagPosterior({0}, 5), Error);
  EXPECT_THROW(LagPosterior({10'000}, 1), Error);
}

}  // namespace
}  // namespace av_fusion
