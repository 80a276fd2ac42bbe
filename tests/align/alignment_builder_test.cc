// Copyright 2026 The av_fusion authors. SPDX-License-Identifier: Apache-2.0
#include "av_fusion/align/alignment_builder.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <string>
#include <utility>

#include "av_fusion/align/lag_posterior.h"
#include "av_fusion/core/error.h"
#include "tests/align/synthetic_evidence.h"

namespace av_fusion {
namespace {

using testing::cut;
using testing::good_context;
using testing::make_evidence;
using testing::options_for_tests;
using testing::SyntheticTrack;

SyntheticTrack track_with_lag(double lag_ms, std::int64_t ticks = 250) {
  SyntheticTrack track;
  track.ticks = ticks;
  track.noise = 1;
  track.lag_ms = [=](std::int64_t) { return lag_ms; };
  return track;
}

Alignment align(const SyncEvidence& evidence, const AlignmentOptions& options = options_for_tests(),
                const MeasurementContext& context = good_context()) {
  AlignmentBuilder builder(options);
  builder.add(1, evidence);
  return builder.finish(context);
}

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

/// All numbers of an alignment as text, to compare two of them bit by bit.
std::string print(const Alignment& a) {
  std::string text = std::string(to_string(a.status)) + a.reason;
  const auto put = [&](double x) {
    text += " " + std::to_string(x) + "/" + std::to_string(std::hash<double>{}(x));
  };
  const auto put_offset = [&](const Offset& o) {
    for (const double x : {o.ms, o.low_ms, o.high_ms, o.confidence}) put(x);
  };
  if (a.offset) put_offset(*a.offset);
  text += "\ntimeline";
  for (const TimelinePoint& p : a.timeline) put(p.t.seconds()), put_offset(p.offset), put(p.track);
  for (const FaceTrack& t : a.tracks) {
    text += "\ntrack";
    put(t.id), put(t.start.seconds()), put(t.end.seconds());
    for (const double edge : t.box) put(edge);
    if (t.offset) put_offset(*t.offset);
    for (const SpeakingSpan& s : t.speaking) {
      put(s.start.seconds()), put(s.end.seconds()), put(s.probability);
    }
  }
  text += "\nattention";
  for (const AttentionFrame& f : a.attention) {
    put(f.t.seconds()), put(f.track), put(f.audio_t.seconds()), put(f.weight);
    for (const MediaDuration t : f.per_head_audio_t) put(t.seconds());
  }
  return text;
}

TEST(AlignmentBuilder, MeasuresBothSigns) {
  for (const double lag_ms : {-213.0, 0.0, 140.0}) {
    const Alignment alignment = align(make_evidence(track_with_lag(lag_ms)));
    EXPECT_EQ(alignment.status, AlignmentStatus::kMeasured) << alignment.reason;
    ASSERT_TRUE(alignment.offset);
    EXPECT_NEAR(alignment.offset->ms, -lag_ms, 3);
    EXPECT_LE(alignment.offset->low_ms, -lag_ms);
    EXPECT_GE(alignment.offset->high_ms, -lag_ms);
    EXPECT_GT(alignment.offset->confidence, 0.9);
    EXPECT_FALSE(alignment.at_search_edge);
    ASSERT_EQ(alignment.tracks.size(), 1u);
    ASSERT_TRUE(alignment.tracks[0].offset);
    EXPECT_DOUBLE_EQ(alignment.tracks[0].offset->ms, alignment.offset->ms);
  }
}

TEST(AlignmentBuilder, PiecesDoNotChangeANumber) {
  SyntheticTrack synthetic = track_with_lag(55, 233);
  synthetic.start = MediaTime::from_seconds(-0.2);
  synthetic.picture_late_ms = 7;
  SyncEvidence whole = make_evidence(synthetic);
  for (std::size_t t = 100; t < 120; ++t) whole.valid[t] = 0;
  const std::string expected = print(align(whole));
  for (const std::int64_t piece : {1, 7, 25, 100}) {
    AlignmentBuilder builder(options_for_tests());
    for (std::int64_t at = 0; at < 233; at += piece) {
      builder.add(1, cut(whole, at, std::min<std::int64_t>(at + piece, 233)));
    }
    EXPECT_EQ(print(builder.finish(good_context())), expected) << "pieces of " << piece;
  }
}

TEST(AlignmentBuilder, WindowAndHopDoNotChangeTheFilesOffset) {
  SyntheticTrack synthetic = track_with_lag(55);
  synthetic.speaking = [](std::int64_t t) { return t % 90 < 45 ? 3.0 : -2.0; };
  const SyncEvidence evidence = make_evidence(synthetic);
  const Alignment usual = align(evidence);
  AlignmentOptions options = options_for_tests();
  options.window = MediaDuration::from_seconds(2.5);
  options.hop = MediaDuration::from_seconds(0.3);
  const Alignment other = align(evidence, options);
  EXPECT_NEAR(other.offset->ms, usual.offset->ms, 1e-9);
  EXPECT_NEAR(other.offset->confidence, usual.offset->confidence, 1e-9);
  EXPECT_NE(other.timeline.size(), usual.timeline.size());
}

TEST(AlignmentBuilder, ASilentListenerDoesNotDecide) {
  // The listener's evidence for another lag is weak each time, but together it is more.
  SyntheticTrack speaker = track_with_lag(80, 100);
  SyntheticTrack listener = track_with_lag(-300, 1200);
  listener.peak = 0.3;
  listener.speaking_logit = -6;
  AlignmentBuilder builder(options_for_tests());
  builder.add(1, make_evidence(listener));
  builder.add(2, make_evidence(speaker));
  const Alignment alignment = builder.finish(good_context());
  ASSERT_EQ(alignment.status, AlignmentStatus::kMeasured) << alignment.reason;
  EXPECT_NEAR(alignment.offset->ms, -80, 12);
  ASSERT_EQ(alignment.tracks.size(), 2u);
  EXPECT_FALSE(alignment.tracks[0].offset) << "the listener has no offset";
  EXPECT_TRUE(alignment.tracks[0].speaking.empty());
  ASSERT_TRUE(alignment.tracks[1].offset);
  EXPECT_NEAR(alignment.tracks[1].offset->ms, -80, 3);
  ASSERT_EQ(alignment.tracks[1].speaking.size(), 1u);
}

TEST(AlignmentBuilder, TheSurestFaceCountsWholeHoweverSureItIs) {
  // Of one face the file must say what the face itself says, doubt about the match or not.
  SyntheticTrack doubtful = track_with_lag(80, 100);
  doubtful.peak = 0.5;
  doubtful.noise = 0;
  const Alignment alignment = align(make_evidence(doubtful));
  ASSERT_TRUE(alignment.offset) << alignment.reason;
  ASSERT_TRUE(alignment.tracks.at(0).offset);
  const Offset& of_file = *alignment.offset;
  const Offset& of_face = *alignment.tracks[0].offset;
  EXPECT_LT(of_face.confidence, 0.9) << "the match is in doubt";
  EXPECT_NEAR(of_file.ms, of_face.ms, 1e-9);
  EXPECT_NEAR(of_file.low_ms, of_face.low_ms, 1e-9);
  EXPECT_NEAR(of_file.high_ms, of_face.high_ms, 1e-9);
  EXPECT_NEAR(of_file.confidence, of_face.confidence, 1e-9);
}

TEST(AlignmentBuilder, ListenersAloneAreNotMeasured) {
  SyntheticTrack listener = track_with_lag(30);
  listener.peak = 0.05;
  const Alignment alignment = align(make_evidence(listener));
  EXPECT_EQ(alignment.status, AlignmentStatus::kAmbiguous);
  EXPECT_FALSE(alignment.offset);
  EXPECT_TRUE(contains(alignment.reason, "no face in view")) << alignment.reason;
}

/// Has seen a face that makes the sound with this probability.
AlignmentBuilder builder_with_match(double probability, AlignmentOptions options) {
  constexpr std::int64_t kTicks = 100;  // one stretch of the timeline
  options.calibration.match_scale = 0;  // so the probability is that of the bias
  options.calibration.match_bias =
      std::log(probability / (1 - probability)) /
      std::sqrt(kTicks / (1 + kTicks / options.calibration.match_ticks));
  AlignmentBuilder builder(options);
  builder.add(1, make_evidence(track_with_lag(30, kTicks)));
  return builder;
}

TEST(AlignmentBuilder, AFaceMustMakeTheSoundAsLikelyAsMinMatch) {
  for (const double probability : {0.55, 0.65}) {
    AlignmentOptions options = options_for_tests();
    options.min_match = 0.6;
    AlignmentBuilder builder = builder_with_match(probability, options);
    const bool is_enough = probability > 0.6;
    const std::vector<TrackState> live = builder.open_tracks();
    ASSERT_EQ(live.size(), 1u);
    EXPECT_EQ(live[0].whole.has_value(), is_enough);
    EXPECT_EQ(live[0].recent.has_value(), is_enough) << "a live answer that the file takes back";
    const Alignment alignment = builder.finish(good_context());
    ASSERT_EQ(alignment.tracks.size(), 1u);
    EXPECT_EQ(alignment.offset.has_value(), is_enough) << alignment.reason;
    EXPECT_EQ(alignment.tracks[0].offset.has_value(), is_enough);
    if (alignment.offset) {
      EXPECT_NEAR(alignment.offset->confidence, probability, 0.01);
    } else {
      EXPECT_EQ(alignment.status, AlignmentStatus::kAmbiguous);
      EXPECT_TRUE(contains(alignment.reason, "probability 0.55, 0.60 is needed"))
          << alignment.reason;
    }
  }
}

TEST(AlignmentBuilder, TwoInThreeIsNotEnoughUnlessTheHostSaysSo) {
  for (const double probability : {0.67, 0.73}) {
    AlignmentBuilder builder = builder_with_match(probability, options_for_tests());
    const Alignment alignment = builder.finish(good_context());
    EXPECT_EQ(alignment.offset.has_value(), probability > 0.7) << alignment.reason;
  }
}

TEST(AlignmentBuilder, FlatEvidenceIsAmbiguous) {
  SyntheticTrack flat = track_with_lag(0);
  flat.peak = 0;
  flat.noise = 0.01;
  const Alignment alignment = align(make_evidence(flat));
  EXPECT_EQ(alignment.status, AlignmentStatus::kAmbiguous);
  EXPECT_FALSE(alignment.offset);
  EXPECT_FALSE(alignment.reason.empty());
}

TEST(AlignmentBuilder, TheEdgeOfTheSearchIsNoMeasurement) {
  for (const double lag_ms : {-900.0, -500.0, 500.0, 520.0}) {
    SyntheticTrack beyond = track_with_lag(lag_ms);
    beyond.hill_ms = 200;
    beyond.noise = 0;
    const Alignment alignment = align(make_evidence(beyond));
    EXPECT_EQ(alignment.status, AlignmentStatus::kAmbiguous) << lag_ms;
    EXPECT_TRUE(alignment.at_search_edge) << lag_ms;
    EXPECT_FALSE(alignment.offset);
    EXPECT_TRUE(alignment.timeline.empty());
    EXPECT_FALSE(alignment.tracks.at(0).offset);
    EXPECT_TRUE(contains(alignment.reason, "500 ms")) << alignment.reason;
  }
}

TEST(AlignmentBuilder, SaysWhatIsMissing) {
  const SyncEvidence good = make_evidence(track_with_lag(0));
  const auto expect = [&](MeasurementContext context, AlignmentStatus status, const char* words) {
    const Alignment alignment = align(good, options_for_tests(), context);
    EXPECT_EQ(to_string(alignment.status), to_string(status)) << alignment.reason;
    EXPECT_TRUE(contains(alignment.reason, words)) << alignment.reason;
    EXPECT_FALSE(alignment.offset);
    EXPECT_TRUE(alignment.timeline.empty());
    for (const FaceTrack& track : alignment.tracks) EXPECT_FALSE(track.offset);
  };
  MeasurementContext context = good_context();
  context.has_video = false;
  expect(context, AlignmentStatus::kNoVideo, "no pictures");
  context = good_context();
  context.has_audio = false;
  expect(context, AlignmentStatus::kNoAudio, "no sound");
  context = good_context();
  context.pictures = 120;
  context.pictures_with_face = 3;
  expect(context, AlignmentStatus::kNoFace, "a face was seen in 3 of 120 pictures");
  context = good_context();
  context.pictures = 7;
  context.pictures_with_face = 7;
  expect(context, AlignmentStatus::kTooShort, "7 pictures");
  context = good_context();
  context.speech = MediaDuration::from_ms(60);
  expect(context, AlignmentStatus::kNoSpeech, "0.06 s of speech in 40.00 s of sound");
}

TEST(AlignmentBuilder, NineTicksAreTooShortAndTenAreNot) {
  SyntheticTrack track = track_with_lag(20, 10);
  track.peak = 30;
  EXPECT_EQ(align(make_evidence(track)).status, AlignmentStatus::kMeasured);
  track.ticks = 9;
  const Alignment alignment = align(make_evidence(track));
  EXPECT_EQ(alignment.status, AlignmentStatus::kTooShort);
  EXPECT_TRUE(contains(alignment.reason, "0.36 s")) << alignment.reason;
  EXPECT_TRUE(contains(alignment.reason, "0.40 s")) << alignment.reason;
  AlignmentBuilder empty(options_for_tests());
  EXPECT_EQ(empty.finish(good_context()).status, AlignmentStatus::kTooShort);
}

TEST(AlignmentBuilder, GlimpsesOfAFaceAreNoFace) {
  const SyncEvidence brief = make_evidence(track_with_lag(20, 9));
  MeasurementContext context = good_context();
  context.pictures = 120;
  context.pictures_with_face = 59;
  const Alignment glimpse = align(brief, options_for_tests(), context);
  EXPECT_EQ(glimpse.status, AlignmentStatus::kNoFace);
  EXPECT_TRUE(contains(glimpse.reason, "59 of 120 pictures")) << glimpse.reason;
  context.pictures_with_face = 60;  // in view, but without sound: there is too little of that
  EXPECT_EQ(align(brief, options_for_tests(), context).status, AlignmentStatus::kTooShort);
}

TEST(AlignmentBuilder, AMomentThatIsNotMeasuredIsAGlimpse) {
  MeasurementContext context = good_context();
  context.pictures = 120;
  context.pictures_with_face = 40;
  const auto status = [&](SyntheticTrack track) {
    return align(make_evidence(track), options_for_tests(), context).status;
  };
  SyntheticTrack track = track_with_lag(20, 24);
  track.peak = 30;
  EXPECT_EQ(status(track), AlignmentStatus::kMeasured);
  track.peak = 0;
  track.noise = 0.01;
  EXPECT_EQ(status(track), AlignmentStatus::kNoFace);
  track.ticks = 25;
  EXPECT_EQ(status(track), AlignmentStatus::kAmbiguous) << "a second is no moment";
  track.ticks = 24;
  context.pictures_with_face = 60;
  EXPECT_EQ(status(track), AlignmentStatus::kAmbiguous) << "in view for half of the film";
}

TEST(AlignmentBuilder, TimelineFollowsAChange) {
  SyntheticTrack track = track_with_lag(0, 500);  // 20 s
  track.noise = 0.5;
  track.start = MediaTime::from_seconds(3);
  track.lag_ms = [](std::int64_t t) { return t < 250 ? 60.0 : -100.0; };
  MeasurementContext context = good_context();
  context.origin = MediaTime::from_seconds(1);
  const Alignment alignment = align(make_evidence(track), options_for_tests(), context);
  ASSERT_EQ(alignment.timeline.size(), 17u);  // starts at 0, 1, ... 16 s of the track
  for (std::size_t i = 0; i < 17; ++i) {
    const TimelinePoint& point = alignment.timeline[i];
    EXPECT_NEAR(point.t.seconds(), 3 - 1 + 2 + static_cast<double>(i), 1e-9);
    EXPECT_EQ(point.track, 1);
    if (i <= 6) {
      EXPECT_NEAR(point.offset.ms, -60, 5) << i;
    } else if (i >= 10) {
      EXPECT_NEAR(point.offset.ms, 100, 5) << i;
    }
  }
}

/// The offset of the valid ticks in [from, to) seconds of the evidence; nothing if too few.
std::optional<Offset> offset_of_stretch(const SyncEvidence& evidence, double from, double to) {
  const AlignmentOptions options = options_for_tests();
  LagPosterior sum(options.lag_hop, options.width);
  const auto lags = static_cast<std::size_t>(2 * options.width + 1);
  for (std::size_t i = 0; i < evidence.valid.size(); ++i) {
    const double time = 0.04 * static_cast<double>(i);
    if (evidence.valid[i] == 0 || time < from - 1e-9 || time > to - 1e-9) continue;
    sum.add({evidence.lag_logits.data() + i * lags, lags}, evidence.picture_late[i]);
  }
  if (sum.num_ticks() < static_cast<double>(options.min_ticks)) return std::nullopt;
  return sum.estimate(options.calibration).offset;
}

// Stretches are summed up as they end; here each is summed from all ticks, holes included.
TEST(AlignmentBuilder, TimelineIsThatOfTheWholeTrack) {
  SyntheticTrack track = track_with_lag(40, 1500);  // 60 s
  SyncEvidence evidence = make_evidence(track);
  std::fill_n(evidence.valid.begin(), 7, 0);
  std::fill_n(evidence.valid.begin() + 300, 90, 0);   // shorter than a stretch
  std::fill_n(evidence.valid.begin() + 600, 425, 0);  // longer
  std::fill_n(evidence.valid.begin() + 1430, 70, 0);
  const double first = 0.04 * 7, end = 0.04 * 1430;
  for (const auto& [window, hop] : {std::pair{4.0, 1.0}, {4.0, 0.5}, {3.0, 7.0}, {2.0, 2.0}}) {
    AlignmentOptions options = options_for_tests();
    options.window = MediaDuration::from_seconds(window);
    options.hop = MediaDuration::from_seconds(hop);
    const Alignment alignment = align(evidence, options);
    const double bin = std::min(1.0, hop);
    const double bins_end = std::ceil(end / bin) * bin;  // the last bin may be half empty
    std::size_t count = 0;
    for (double from = 0; from + window <= bins_end + 1e-9; from += hop) {
      const auto expected = offset_of_stretch(evidence, from, from + window);
      if (!expected) continue;
      ASSERT_LT(count, alignment.timeline.size()) << window << " " << hop << " " << from;
      const TimelinePoint& point = alignment.timeline[count++];
      EXPECT_NEAR(point.t.seconds(), (std::max(first, from) + std::min(end, from + window)) / 2,
                  1e-6);
      EXPECT_NEAR(point.offset.ms, expected->ms, 1e-9);
      EXPECT_NEAR(point.offset.low_ms, expected->low_ms, 1e-9);
      EXPECT_NEAR(point.offset.confidence, expected->confidence, 1e-9);
    }
    EXPECT_EQ(count, alignment.timeline.size()) << window << " " << hop;
    EXPECT_GT(count, 3U);
  }
}

TEST(AlignmentBuilder, StretchesMayBeShorterThanWhatIsTooShortForAFile) {
  SyncEvidence evidence = make_evidence(track_with_lag(30, 250));  // 10 s
  std::fill_n(evidence.valid.begin() + 25, 1, 0);  // four of the second's first five ticks
  std::fill_n(evidence.valid.begin() + 50, 2, 0);  // three
  AlignmentOptions options = options_for_tests();
  options.window = options.hop = MediaDuration::from_ms(200);
  const Alignment alignment = align(evidence, options);
  EXPECT_EQ(alignment.status, AlignmentStatus::kMeasured);
  EXPECT_EQ(alignment.timeline.size(), 49U);
}

TEST(AlignmentBuilder, AFaceThatComesLaterIsCutIntoTheSameStretches) {
  for (const auto& [window, hop] : {std::pair{2.0, 2.0}, {5.0, 5.0}, {4.0, 2.0}, {2.0, 4.0}}) {
    AlignmentOptions options = options_for_tests();
    options.window = MediaDuration::from_seconds(window);
    options.hop = MediaDuration::from_seconds(hop);
    SyntheticTrack late = track_with_lag(40, 500);
    late.start = MediaTime::from_seconds(5.4);  // to 25.4 s
    AlignmentBuilder builder(options);
    builder.add(1, make_evidence(track_with_lag(40, 700)));
    builder.add(2, make_evidence(late));
    int whole = 0;
    for (const TimelinePoint& point : builder.finish(good_context()).timeline) {
      const double begin = point.t.seconds() - window / 2;
      // The first and the last lack what lies before and after the face.
      if (point.track == 1 || begin < 5.4 || begin + window > 25.4) continue;
      EXPECT_NEAR(std::remainder(begin, hop), 0, 1e-6) << window << " " << hop;
      ++whole;
    }
    EXPECT_GT(whole, 2);
  }
}

TEST(AlignmentBuilder, AShortClipHasOneTimelinePoint) {
  const Alignment alignment = align(make_evidence(track_with_lag(30, 30)));  // 1.2 s
  ASSERT_EQ(alignment.timeline.size(), 1u);
  EXPECT_NEAR(alignment.timeline[0].t.seconds(), 0.6, 1e-9);
  EXPECT_NEAR(alignment.timeline[0].offset.ms, -30, 6);
}

TEST(AlignmentBuilder, AShortFaceThatComesLaterHasOneTimelinePoint) {
  AlignmentOptions options = options_for_tests();
  options.hop = MediaDuration::from_seconds(2);
  SyntheticTrack late = track_with_lag(30, 25);
  late.start = MediaTime::from_seconds(5.4);  // to 6.4 s, in the middle of the stretch from 4 to 8
  AlignmentBuilder builder(options);
  builder.add(1, make_evidence(track_with_lag(30, 250)));
  builder.add(2, make_evidence(late));
  const Alignment alignment = builder.finish(good_context());
  EXPECT_EQ(std::count_if(alignment.timeline.begin(), alignment.timeline.end(),
                          [](const TimelinePoint& point) { return point.track == 2; }),
            1);
}

/// The mean confidence of the points of a timeline from one time to another.
double mean_confidence(const Alignment& alignment, double from, double to) {
  double sum = 0;
  int count = 0;
  for (const TimelinePoint& point : alignment.timeline) {
    if (point.t.seconds() < from || point.t.seconds() > to) continue;
    sum += point.offset.confidence;
    ++count;
  }
  EXPECT_GT(count, 3);
  return sum / count;
}

AlignmentOptions options_with_doubtful_stretches() {
  AlignmentOptions options = options_for_tests();
  options.window = options.hop = MediaDuration::from_ms(200);
  options.calibration = {.evidence_scale = 1, .match_scale = 0.5, .match_bias = -0.6};
  return options;
}

TEST(AlignmentBuilder, AStretchIsJudgedByItsTrackToo) {
  const AlignmentOptions options = options_with_doubtful_stretches();
  const Alignment speaker = align(make_evidence(track_with_lag(30, 500)), options);
  const Alignment alone = align(make_evidence(track_with_lag(30, 10)), options);
  SyntheticTrack still = track_with_lag(30, 500);
  still.peak = 0.2;
  const Alignment listener = align(make_evidence(still), options);
  ASSERT_TRUE(speaker.offset);
  EXPECT_FALSE(listener.offset);
  EXPECT_GT(mean_confidence(speaker, 0, 20), 0.9);
  EXPECT_LT(mean_confidence(listener, 0, 20), 0.1);
  ASSERT_TRUE(alone.offset);
  EXPECT_LT(alone.offset->confidence, 0.9) << "ten ticks alone say less about the match";
}

TEST(AlignmentBuilder, ForeignSoundInsideATrackLowersItsStretches) {
  const AlignmentOptions options = options_with_doubtful_stretches();
  SyntheticTrack half = track_with_lag(0, 500);
  half.noise = 0.3;
  SyncEvidence evidence = make_evidence(half);
  const SyncEvidence noise = [&] {
    SyntheticTrack foreign = half;
    foreign.peak = 0;
    return make_evidence(foreign);
  }();
  const std::int64_t lags = 2 * evidence.width + 1;
  std::copy_n(noise.lag_logits.data(), 250 * lags, evidence.lag_logits.data());
  const Alignment alignment = align(evidence, options);
  EXPECT_LT(mean_confidence(alignment, 0, 9.9), 0.3);
  EXPECT_GT(mean_confidence(alignment, 10.1, 20), 0.9);
}

TEST(AlignmentBuilder, TheOnlyStretchIsAsSureAsItsTrack) {
  AlignmentOptions options = options_for_tests();
  options.calibration = {.evidence_scale = 1, .match_scale = 0.5, .match_bias = -0.6};
  const Alignment alignment = align(make_evidence(track_with_lag(30, 12)), options);
  ASSERT_EQ(alignment.timeline.size(), 1u);
  ASSERT_TRUE(alignment.tracks.at(0).offset);
  EXPECT_LT(alignment.tracks[0].offset->confidence, 0.97);
  EXPECT_NEAR(alignment.timeline[0].offset.confidence, alignment.tracks[0].offset->confidence,
              1e-9);
}

TEST(AlignmentBuilder, SpeakingSpansBridgeShortPauses) {
  SyntheticTrack track = track_with_lag(0, 200);  // 8 s
  track.speaking = [](std::int64_t t) {
    const double s = 0.04 * static_cast<double>(t);
    const bool pause = (s >= 1.999 && s < 2.199) || (s >= 4.199 && s < 5.199) || s >= 6.199;
    return pause ? -3.0 : 3.0;
  };
  track.start = MediaTime::from_seconds(10);
  AlignmentOptions options = options_for_tests();
  options.speaking.start = options.speaking.stop = 0.1;
  const Alignment alignment = align(make_evidence(track), options);
  const std::vector<SpeakingSpan>& spans = alignment.tracks.at(0).speaking;
  ASSERT_EQ(spans.size(), 2u);
  EXPECT_NEAR(spans[0].start.seconds(), 10, 1e-9);
  EXPECT_NEAR(spans[0].end.seconds(), 14.2, 1e-9);
  EXPECT_NEAR(spans[1].start.seconds(), 15.2, 1e-9);
  EXPECT_NEAR(spans[1].end.seconds(), 16.2, 1e-9);
}

TEST(AlignmentBuilder, AttentionSaysWhereTheHeadsLook) {
  SyntheticTrack track = track_with_lag(70, 50);  // 2 s
  track.noise = 0;
  track.picture_late_ms = 10;  // so the hill is 80 ms after the tick
  track.start = MediaTime::from_seconds(5);
  SyncEvidence evidence = make_evidence(track);
  // The second head looks 50 ms before the tick, with half of its weight.
  for (std::int64_t t = 0; t < 50; ++t) {
    for (std::int64_t l = 0; l < 101; ++l) {
      evidence.head_weights.view()(t, 1, l) = l == 45 ? 0.5f : 0.005f;
    }
  }
  MeasurementContext context = good_context();
  context.origin = MediaTime::from_seconds(4);
  const Alignment alignment = align(evidence, options_for_tests(), context);
  EXPECT_EQ(alignment.attention_heads, 2);
  EXPECT_EQ(alignment.attention_hop.us, 200'000);
  ASSERT_EQ(alignment.attention.size(), 10u);
  for (std::size_t i = 0; i < 10; ++i) {
    const AttentionFrame& frame = alignment.attention[i];
    const double tick = 1 + 0.2 * static_cast<double>(i);
    EXPECT_NEAR(frame.t.seconds(), tick + 0.010, 1e-9);
    EXPECT_NEAR(frame.audio_t.seconds(), tick + 0.080, 1e-9);
    ASSERT_EQ(frame.per_head_audio_t.size(), 2u);
    EXPECT_NEAR(frame.per_head_audio_t[0].seconds(), tick + 0.080, 1e-9);
    EXPECT_NEAR(frame.per_head_audio_t[1].seconds(), tick - 0.050, 1e-9);
    double weight = 0;
    for (std::int64_t l = 54; l <= 62; ++l) {  // 40 to 120 ms after the tick
      for (std::int64_t h = 0; h < 2; ++h) {
        weight += 0.5 * evidence.head_weights.view()(static_cast<std::int64_t>(i) * 5, h, l);
      }
    }
    EXPECT_NEAR(frame.weight, weight, 1e-6);
  }
}

TEST(AlignmentBuilder, MaskedLagsAreNoEvidence) {
  // Logits around -7, and zeros where the sound has not begun: zeros must not win.
  const std::int64_t ticks = 40;
  SyncEvidence evidence = make_evidence(track_with_lag(-20, ticks));
  for (std::int64_t t = 0; t < ticks; ++t) {
    for (std::int64_t l = 0; l < 101; ++l) {
      const double sound_ms = 40.0 * static_cast<double>(t) + 10.0 * static_cast<double>(l - 50);
      if (sound_ms >= 0 && sound_ms <= 1600) continue;
      evidence.lag_logits.view()(t, l) = 0;
      for (std::int64_t h = 0; h < 2; ++h) evidence.head_weights.view()(t, h, l) = 0;
    }
  }
  const Alignment alignment = align(evidence);
  ASSERT_EQ(alignment.status, AlignmentStatus::kMeasured) << alignment.reason;
  EXPECT_NEAR(alignment.offset->ms, 20, 5);
}

TEST(AlignmentBuilder, TicksWithoutAMouthDoNotCount) {
  SyntheticTrack right = track_with_lag(90, 100);
  right.noise = 0.5;
  SyncEvidence evidence = make_evidence(right);
  SyntheticTrack wrong = track_with_lag(-200, 100);
  wrong.peak = 50;
  const SyncEvidence other = make_evidence(wrong);
  for (std::int64_t t = 60; t < 100; ++t) {
    evidence.valid[static_cast<std::size_t>(t)] = 0;
    for (std::int64_t l = 0; l < 101; ++l) {
      evidence.lag_logits.view()(t, l) =
          t == 60 ? std::numeric_limits<float>::quiet_NaN() : other.lag_logits.view()(t, l);
    }
  }
  const Alignment alignment = align(evidence);
  ASSERT_EQ(alignment.status, AlignmentStatus::kMeasured);
  EXPECT_NEAR(alignment.offset->ms, -90, 3);
  EXPECT_NEAR(alignment.tracks.at(0).end.seconds(), 2.4, 1e-9);
}

TEST(AlignmentBuilder, BoxIsTheMedian) {
  const SyncEvidence evidence = make_evidence(track_with_lag(0, 25));
  std::vector<AlignmentBuilder::Box> boxes(25, {10, 20, 30, 40});
  boxes[0] = {900, 900, 900, 900};  // one of the five that are looked at
  AlignmentBuilder builder(options_for_tests());
  builder.add(3, evidence, boxes);
  const Alignment alignment = builder.finish(good_context());
  EXPECT_EQ(alignment.tracks.at(0).id, 3);
  for (int k = 0; k < 4; ++k) EXPECT_EQ(alignment.tracks[0].box[k], 10 * (k + 1));
}

TEST(AlignmentBuilder, EndingTracksEarlyGivesTheSameResult) {
  const SyncEvidence a = make_evidence(track_with_lag(40, 120));
  SyntheticTrack later = track_with_lag(40, 150);
  later.start = MediaTime::from_seconds(6);
  later.seed = 5;
  const SyncEvidence b = make_evidence(later);
  AlignmentBuilder late(options_for_tests());
  late.add(1, a);
  late.add(2, b);
  AlignmentBuilder early(options_for_tests());
  early.add(1, a);
  early.end_track(1);
  early.end_track(1);
  early.end_track(77);
  early.add(2, b);
  const Alignment result = early.finish(good_context());
  EXPECT_EQ(print(result), print(late.finish(good_context())));
  EXPECT_EQ(result.tracks.size(), 2u);
  // Finished builders start anew.
  early.add(1, a);
  EXPECT_EQ(early.finish(good_context()).tracks.size(), 1u);
}

TEST(AlignmentBuilder, TheOffsetSoFarIsThatOfTheEndedTracks) {
  const SyncEvidence first = make_evidence(track_with_lag(120));
  AlignmentBuilder builder(options_for_tests());
  EXPECT_FALSE(builder.offset_so_far(good_context()));
  builder.add(1, first);
  EXPECT_FALSE(builder.offset_so_far(good_context())) << "the track has not ended";
  builder.end_track(1);
  const std::optional<Offset> so_far = builder.offset_so_far(good_context());
  ASSERT_TRUE(so_far);
  MeasurementContext silent = good_context();
  silent.speech = MediaDuration();
  EXPECT_FALSE(builder.offset_so_far(silent));
  const Alignment alone = builder.finish(good_context());
  EXPECT_EQ(so_far->ms, alone.offset->ms);
  EXPECT_EQ(so_far->confidence, alone.offset->confidence);
}

TEST(AlignmentBuilder, TracksMayComeInAnyOrderOfTime) {
  // As parts of a file do that are not analysed from front to back.
  SyntheticTrack early = track_with_lag(80);
  SyntheticTrack late = track_with_lag(80);
  late.start = MediaTime{100'000'000};
  const auto run = [&](bool late_first) {
    AlignmentBuilder builder(options_for_tests());
    for (const bool is_late : {late_first, !late_first}) {
      builder.add(is_late ? 1 : 0, make_evidence(is_late ? late : early));
      builder.end_track(is_late ? 1 : 0);
    }
    return builder.finish(good_context());
  };
  const Alignment forth = run(false);
  const Alignment back = run(true);
  EXPECT_EQ(back.tracks[1].start.seconds(), 100);
  EXPECT_NEAR(back.offset->ms, forth.offset->ms, 1e-9);
  ASSERT_EQ(back.timeline.size(), forth.timeline.size());
  for (std::size_t i = 0; i < back.timeline.size(); ++i) {
    EXPECT_EQ(back.timeline[i].track, forth.timeline[i].track);
    EXPECT_NEAR(back.timeline[i].t.seconds(), forth.timeline[i].t.seconds(), 1e-9);
  }
}

TEST(AlignmentBuilder, RefusesEvidenceThatDoesNotFit) {
  AlignmentBuilder builder(options_for_tests());
  const SyncEvidence good = make_evidence(track_with_lag(0, 20));
  SyntheticTrack narrow = track_with_lag(0, 20);
  narrow.width = 20;
  EXPECT_THROW(builder.add(1, make_evidence(narrow)), Error);
  SyntheticTrack heads = track_with_lag(0, 20);
  heads.heads = 3;
  EXPECT_THROW(builder.add(1, make_evidence(heads)), Error);
  EXPECT_THROW(builder.add(1, good, std::vector<AlignmentBuilder::Box>(19)), Error);
  SyncEvidence nan = make_evidence(track_with_lag(0, 20));
  nan.lag_logits.view()(13, 4) = std::numeric_limits<float>::quiet_NaN();
  try {
    builder.add(1, nan);
    ADD_FAILURE() << "NaN was accepted";
  } catch (const Error& error) {
    EXPECT_TRUE(contains(error.what(), "track 1")) << error.what();
    EXPECT_TRUE(contains(error.what(), "lag_logits row 13")) << error.what();
  }
  builder.add(1, good);
  EXPECT_THROW(builder.add(1, good), Error) << "back in time";
  builder.end_track(1);
  SyntheticTrack later = track_with_lag(0, 20);
  later.start = MediaTime::from_seconds(9);
  EXPECT_THROW(builder.add(1, make_evidence(later)), Error) << "the track has ended";
  EXPECT_EQ(builder.finish(good_context()).tracks.size(), 1u);
}

TEST(AlignmentBuilder, RefusesOptionsThatMakeNoSense) {
  const auto expect_refused = [](auto change, const char* word) {
    AlignmentOptions options = options_for_tests();
    change(options);
    try {
      AlignmentBuilder builder(options);
      ADD_FAILURE() << word;
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::kInvalidArgument);
      EXPECT_TRUE(contains(error.what(), word)) << error.what();
    }
  };
  expect_refused([](auto& o) { o.heads = 0; }, "heads");
  expect_refused([](auto& o) { o.width = 1; }, "width");
  expect_refused([](auto& o) { o.lag_hop = {0}; }, "lag_hop");
  expect_refused([](auto& o) { o.tick_hop = {-1}; }, "tick_hop");
  expect_refused([](auto& o) { o.hop = {0}; }, "hop");
  expect_refused([](auto& o) { o.hop = {333'333}; }, "multiples");
  expect_refused([](auto& o) { o.min_confidence = 2; }, "min_confidence");
  expect_refused([](auto& o) { o.min_match = -0.1; }, "min_match");
  expect_refused([](auto& o) { o.calibration.outlier_share = -0.1; }, "outlier_share");
  expect_refused([](auto& o) { o.calibration.evidence_scale = 0; }, "evidence_scale");
  expect_refused([](auto& o) { o.calibration.match_ticks = 0; }, "match_ticks");
}

TEST(AlignmentStatus, HasStableNames) {
  EXPECT_EQ(to_string(AlignmentStatus::kMeasured), "measured");
  EXPECT_EQ(to_string(AlignmentStatus::kNoVideo), "no_video");
  EXPECT_EQ(to_string(AlignmentStatus::kNoAudio), "no_audio");
  EXPECT_EQ(to_string(AlignmentStatus::kNoFace), "no_face");
  EXPECT_EQ(to_string(AlignmentStatus::kNoSpeech), "no_speech");
  EXPECT_EQ(to_string(AlignmentStatus::kTooShort), "too_short");
  EXPECT_EQ(to_string(AlignmentStatus::kAmbiguous), "ambiguous");
  EXPECT_EQ(to_string(Direction::kSoundEarly), "sound_early");
  EXPECT_EQ(to_string(Direction::kSoundLate), "sound_late");
  EXPECT_EQ(to_string(Direction::kInSync), "in_sync");
}

}  // namespace
}  // namespace av_fusion
