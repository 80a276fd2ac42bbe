// Copyright 2026 The av_fusion authors. SPDX-License-Identifier: Apache-2.0
#include "av_fusion/features/mouth_track_extractor.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <map>
#include <memory>
#include <random>
#include <vector>

#include "av_fusion/core/error.h"
#include "av_fusion/features/mouth_cropper.h"
#include "fake_faces.h"

namespace av_fusion {
namespace {

using testing::fake_landmarks;
using testing::FakeDetector;
using testing::FakeFace;
using testing::FakeLandmarker;
using testing::FakeWorld;

constexpr std::int64_t kTickUs = 40'000;

// All chunks of one track put together.
struct Track {
  std::int64_t first_tick = 0;
  std::vector<std::uint8_t> crops, valid;
  std::vector<float> geometry;
  std::vector<std::int64_t> times;
  bool ended = false;

  std::int64_t length() const { return static_cast<std::int64_t>(valid.size()); }
  bool operator==(const Track&) const = default;
};

void collect(const std::vector<MouthChunk>& chunks, std::map<int, Track>& tracks) {
  for (const MouthChunk& chunk : chunks) {
    Track& track = tracks[chunk.track_id];
    EXPECT_FALSE(track.ended);
    EXPECT_GE(chunk.length(), 1);
    if (track.valid.empty()) track.first_tick = chunk.first_tick;
    EXPECT_EQ(chunk.first_tick, track.first_tick + track.length());
    EXPECT_EQ(chunk.crops.shape(), (Shape{chunk.length(), kMouthHeight, kMouthWidth}));
    EXPECT_EQ(chunk.geometry.shape(), (Shape{chunk.length(), kLipGeometrySize}));
    EXPECT_EQ(static_cast<std::int64_t>(chunk.boxes.size()), chunk.length());
    const auto crops = chunk.crops.elements();
    const auto geometry = chunk.geometry.elements();
    track.crops.insert(track.crops.end(), crops.begin(), crops.end());
    track.geometry.insert(track.geometry.end(), geometry.begin(), geometry.end());
    track.valid.insert(track.valid.end(), chunk.valid.begin(), chunk.valid.end());
    for (const MediaTime time : chunk.picture_times) track.times.push_back(time.us);
    track.ended = chunk.ends_track;
  }
}

struct Result {
  std::map<int, Track> tracks;
  MouthTrackExtractor::Counters counters;
  std::shared_ptr<FakeWorld> world;
};

// Runs pictures at `times_us` whose faces `scene` gives; takes what is ready at random.
template <typename Scene>
Result run(const std::vector<std::int64_t>& times_us, Scene&& scene, unsigned take_one_in = 1) {
  Result result;
  result.world = std::make_shared<FakeWorld>();
  MouthTrackExtractor extractor(std::make_unique<FakeDetector>(result.world),
                                std::make_shared<FakeLandmarker>(result.world));
  std::mt19937 random(4);
  for (std::size_t i = 0; i < times_us.size(); ++i) {
    VideoFrame frame = result.world->add({times_us[i]}, scene(times_us[i]));
    for (std::int64_t p = 2; p < frame.luma.num_elements(); ++p) {
      frame.luma.data()[p] = static_cast<std::uint8_t>((p * 7 / 320 + p % 320) % 251 / 4 + 60);
    }
    extractor.push(std::move(frame));
    if (random() % take_one_in == 0) collect(extractor.take_ready(), result.tracks);
  }
  extractor.finish();
  collect(extractor.take_ready(), result.tracks);
  result.counters = extractor.counters();
  for (const auto& [id, track] : result.tracks) EXPECT_TRUE(track.ended) << id;
  return result;
}

std::vector<FakeFace> one_face(std::int64_t) { return {{160, 90, 50}}; }

// The picture nearest to `time`, the earlier of two equally near ones.
std::int64_t nearest(const std::vector<std::int64_t>& times, std::int64_t time) {
  return *std::min_element(times.begin(), times.end(), [time](std::int64_t a, std::int64_t b) {
    return std::abs(a - time) < std::abs(b - time);
  });
}

std::vector<std::int64_t> regular(double fps, double seconds, std::int64_t start_us = 123'456) {
  std::vector<std::int64_t> times;
  for (int i = 0; i < seconds * fps; ++i) times.push_back(start_us + std::llround(i * 1e6 / fps));
  return times;
}

void expect_nearest_pictures(const std::vector<std::int64_t>& times) {
  const Result result = run(times, one_face);
  ASSERT_EQ(result.tracks.size(), 1U);
  const Track& track = result.tracks.at(0);
  EXPECT_EQ(track.first_tick, 0);
  const std::int64_t last_tick = Timeline{{times.front()}, {kTickUs}}.nearest({times.back()});
  EXPECT_EQ(track.length(), last_tick + 1);
  for (std::int64_t i = 0; i < track.length(); ++i) {
    EXPECT_EQ(track.times[static_cast<std::size_t>(i)],
              nearest(times, times.front() + i * kTickUs));
  }
  EXPECT_EQ(result.counters.ticks, last_tick + 1);
  EXPECT_EQ(result.counters.ticks_with_face, last_tick + 1);
  EXPECT_LE(result.counters.pictures_analysed, last_tick + 1);
  EXPECT_EQ(result.counters.pictures, static_cast<std::int64_t>(times.size()));
}

TEST(MouthTrackExtractor, TakesTheNearestPictureAtAnyRate) {
  for (const double fps : {6.5, 12.0, 23.976, 25.0, 29.97, 30.0, 50.0, 60.0, 119.88}) {
    SCOPED_TRACE(fps);
    expect_nearest_pictures(regular(fps, 3));
  }
}

TEST(MouthTrackExtractor, TakesTheNearestPictureAtVariableRate) {
  std::mt19937 random(9);
  for (int round = 0; round < 5; ++round) {
    std::vector<std::int64_t> times = {-2'000'000 + round};
    while (times.back() < 1'000'000) times.push_back(times.back() + 1 + random() % 110'000);
    expect_nearest_pictures(times);
  }
}

TEST(MouthTrackExtractor, AnalysesNoPictureThatNoTickTakes) {
  EXPECT_EQ(run(regular(60, 4), one_face).counters.pictures_analysed, 101);
  EXPECT_EQ(run(regular(12, 4), one_face).counters.pictures_analysed, 48);
}

TEST(MouthTrackExtractor, RowsDoNotDependOnWhenTheyAreTaken) {
  const auto scene = [](std::int64_t us) {
    const double t = double(us) * 1e-6;
    std::vector<FakeFace> faces = {{100 + 20 * t, 90, 50, 0.1 * std::sin(3 * t), 0.1}};
    if (t < 2) faces.push_back({240, 100, 40});
    return faces;
  };
  const auto times = regular(30, 4);
  const Result often = run(times, scene, 1);
  EXPECT_EQ(often.tracks.size(), 2U);
  EXPECT_EQ(often.tracks, run(times, scene, 7).tracks);
  EXPECT_EQ(often.tracks, run(times, scene, 1'000'000).tracks);
}

TEST(MouthTrackExtractor, RowsAreReadyWithinEightTicks) {
  auto world = std::make_shared<FakeWorld>();
  MouthTrackExtractor extractor(std::make_unique<FakeDetector>(world),
                                std::make_shared<FakeLandmarker>(world));
  std::int64_t rows = 0;
  for (std::int64_t i = 0; i < 60; ++i) {
    extractor.push(world->add({i * kTickUs}, one_face(0)));
    for (const MouthChunk& chunk : extractor.take_ready()) rows += chunk.length();
    EXPECT_GE(rows, i - 8);
  }
}

// The lips move inside the crop; the frame around them stays.
TEST(MouthTrackExtractor, GeometryFollowsTheLipsTickByTick) {
  const auto opening_at = [](std::int64_t us) {
    return 0.2 + 0.2 * std::sin(2 * 3.14159 * 5 * double(us) * 1e-6);
  };
  const auto scene = [&](std::int64_t us) {
    return std::vector<FakeFace>{{160, 90, 50, 0, opening_at(us)}};
  };
  const Result result = run(regular(25, 2), scene);
  const Track& track = result.tracks.at(0);
  ASSERT_EQ(track.length(), 50);
  for (std::size_t i = 0; i < 50; ++i) {
    const double opening = opening_at(track.times[i]);
    EXPECT_NEAR(track.geometry[i * 6], opening, 0.005);
    EXPECT_NEAR(track.geometry[i * 6 + 4], 1.1 + opening, 0.02);
  }
}

TEST(MouthTrackExtractor, SmoothsTheFrameOfTheCrop) {
  // The face trembles by a pixel from picture to picture over a still background; the crop must
  // not.
  const auto scene = [](std::int64_t us) {
    const double jitter = us / kTickUs % 2 == 0 ? 1.0 : -1.0;
    return std::vector<FakeFace>{{160 + jitter, 90, 64}};
  };
  const Result result = run(regular(25, 2, 0), scene);
  const Track& track = result.tracks.at(0);
  const std::size_t size = kMouthHeight * kMouthWidth;
  double change = 0;
  for (std::size_t p = 0; p < size; ++p) {
    change += std::abs(track.crops[20 * size + p] - track.crops[21 * size + p]);
  }
  EXPECT_LT(change / double(size), 0.6);  // 2 pixels of jitter would be a change of about 5
}

TEST(MouthTrackExtractor, BridgesAShortLossAndMarksIt) {
  const auto scene = [](std::int64_t us) {
    const std::int64_t tick = us / kTickUs;
    return tick >= 20 && tick < 24 ? std::vector<FakeFace>{} : one_face(us);
  };
  const Result result = run(regular(25, 2, 0), scene);
  ASSERT_EQ(result.tracks.size(), 1U);
  const Track& track = result.tracks.at(0);
  ASSERT_EQ(track.length(), 50);
  const std::size_t size = kMouthHeight * kMouthWidth;
  for (std::size_t i = 0; i < 50; ++i) {
    EXPECT_EQ(track.valid[i], i >= 20 && i < 24 ? 0 : 1) << i;
    if (track.valid[i] == 1) continue;
    EXPECT_EQ(track.times[i], 19 * kTickUs);
    EXPECT_TRUE(std::equal(track.crops.begin() + static_cast<std::ptrdiff_t>(i * size),
                           track.crops.begin() + static_cast<std::ptrdiff_t>((i + 1) * size),
                           track.crops.begin() + static_cast<std::ptrdiff_t>(19 * size)));
  }
  EXPECT_EQ(result.counters.ticks_with_face, 46);
}

TEST(MouthTrackExtractor, ALongLossEndsTheTrack) {
  const auto scene = [](std::int64_t us) {
    const std::int64_t tick = us / kTickUs;
    return tick >= 20 && tick < 32 ? std::vector<FakeFace>{} : one_face(us);
  };
  const Result result = run(regular(25, 3, 0), scene);
  ASSERT_EQ(result.tracks.size(), 2U);
  EXPECT_EQ(result.tracks.at(0).length(), 20);
  EXPECT_GE(result.tracks.at(1).first_tick, 32);
  EXPECT_LE(result.tracks.at(1).first_tick, 38);
  EXPECT_EQ(result.counters.tracks, 2);
}

TEST(MouthTrackExtractor, HolesBetweenPicturesHaveNoObservation) {
  std::vector<std::int64_t> times = regular(25, 1, 0);  // up to 0.96 s
  const std::int64_t hour = 3'600'000'000;
  for (const std::int64_t time : regular(25, 1, 2'000'000)) times.push_back(time);
  for (const std::int64_t time : regular(25, 1, hour)) times.push_back(time);
  const Result result = run(times, one_face);
  ASSERT_EQ(result.tracks.size(), 3U);
  EXPECT_EQ(result.tracks.at(0).length(), 25 + 3);  // within 150 ms the last picture serves
  EXPECT_EQ(result.tracks.at(1).first_tick, 50 - 3);
  EXPECT_EQ(result.tracks.at(2).first_tick, hour / kTickUs - 3);
  EXPECT_EQ(result.counters.ticks, hour / kTickUs + 25);
}

TEST(MouthTrackExtractor, LeavesOutTheEndThatNoDetectionConfirms) {
  const auto scene = [](std::int64_t us) {
    std::vector<FakeFace> faces = one_face(us);
    faces[0].visible_to_detector = us / kTickUs < 25;
    return faces;
  };
  const Result result = run(regular(25, 3, 0), scene);
  ASSERT_EQ(result.tracks.size(), 1U);
  // Confirmed at tick 24, missed at 30, given up at 40; the rows of 34 to 39 are not ready then,
  // and one of them stays.
  EXPECT_EQ(result.tracks.at(0).length(), 35);
}

TEST(MouthTrackExtractor, ALatePictureIsDroppedAndCounted) {
  const Result result = run({0, 40'000, 30'000, 40'000, 80'000}, one_face);
  EXPECT_EQ(result.counters.pictures_dropped, 2);
  EXPECT_EQ(result.tracks.at(0).times, (std::vector<std::int64_t>{0, 40'000, 80'000}));
}

TEST(MouthTrackExtractor, OnePictureIsOneTick) {
  const Result result = run({5}, one_face);
  EXPECT_EQ(result.tracks.at(0).length(), 1);
}

TEST(MouthTrackExtractor, NothingInNothingOut) {
  auto world = std::make_shared<FakeWorld>();
  MouthTrackExtractor extractor(std::make_unique<FakeDetector>(world),
                                std::make_shared<FakeLandmarker>(world));
  EXPECT_FALSE(extractor.grid().has_value());
  extractor.push({{7}, Tensor<std::uint8_t>(Shape{0, 0})});
  EXPECT_FALSE(extractor.grid().has_value());
  extractor.finish();
  extractor.finish();
  EXPECT_TRUE(extractor.take_ready().empty());
  EXPECT_THROW(extractor.push(world->add({9}, {})), Error);
}

}  // namespace
}  // namespace av_fusion
