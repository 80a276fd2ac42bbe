// Copyright 2026 The av_fusion authors. SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "av_fusion/media/clip_builder_internal.h"
#include "av_fusion/media/sound_timeline_internal.h"
#include "media_test_util.h"

namespace av_fusion {
namespace {

constexpr int kRate = 48000;
constexpr std::size_t kFrame = 960;  // 20 ms
constexpr MediaDuration kTick{1000};

class SoundTimelineTest : public testing::Test {
 protected:
  // Feeds frames of `sound` whose stamps are `stamp_us(sample)`.
  template <typename Stamp>
  void feed(const std::vector<float>& sound, Stamp stamp_us) {
    for (std::size_t at = 0; at + kFrame <= sound.size(); at += kFrame) {
      timeline_.add({sound.data() + at, kFrame}, kRate, MediaTime{stamp_us(at)}, kTick);
    }
    finish();
  }

  void finish() {
    timeline_.finish();
    builder_.finish();
  }

  static std::int64_t exact_us(std::size_t sample) {
    return static_cast<std::int64_t>(sample) * 1000000 / kRate;
  }

  double end_s() const {
    return clips_.back().start.seconds() +
           static_cast<double>(clips_.back().samples.size()) / 16000;
  }

  std::vector<AudioClip> clips_;
  ClipBuilder builder_{{}, {}, [this](AudioClip clip) { clips_.push_back(std::move(clip)); }};
  SoundTimeline timeline_{[this](SamplePosition position, std::span<const float> samples) {
    builder_.add(position, samples);
  }};
};

TEST_F(SoundTimelineTest, StampsRoundedToAMillisecondDoNotMatter) {
  feed(clicks({0.5, 9.5}, 10, kRate), [](std::size_t at) { return exact_us(at) / 1000 * 1000; });
  EXPECT_NEAR(find_click(clips_, 0.5), 0.5, 0.00003);
  EXPECT_NEAR(find_click(clips_, 9.5), 9.5, 0.00003);
  EXPECT_NEAR(end_s(), 10, 0.0001);
}

TEST_F(SoundTimelineTest, JitterOfFourMillisecondsIsIgnored) {
  std::mt19937 random(1);
  std::uniform_int_distribution<std::int64_t> jitter(-4000, 4000);
  feed(clicks({0.5, 9.5}, 10, kRate),
       [&](std::size_t at) { return at == 0 ? 0 : exact_us(at) + jitter(random); });
  EXPECT_NEAR(find_click(clips_, 9.5), 9.5, 0.00003);
  EXPECT_EQ(timeline_.gaps(), 0);
}

TEST_F(SoundTimelineTest, HoleOf30MsIsFilledAtOnceAndCounted) {
  feed(clicks({0.5, 1.1, 2}, 3, kRate),
       [](std::size_t at) { return exact_us(at) + (at >= kRate ? 30000 : 0); });
  EXPECT_NEAR(find_click(clips_, 0.5), 0.5, 0.00003);
  EXPECT_NEAR(find_click(clips_, 1.13), 1.13, 0.00003);
  EXPECT_NEAR(find_click(clips_, 2.03), 2.03, 0.00003);
  EXPECT_EQ(timeline_.gaps(), 1);
}

TEST_F(SoundTimelineTest, HoleOf10MsIsFilledButNotCounted) {
  feed(clicks({0.5, 2}, 3, kRate),
       [](std::size_t at) { return exact_us(at) + (at >= kRate ? 10000 : 0); });
  EXPECT_NEAR(find_click(clips_, 0.5), 0.5, 0.00003);
  EXPECT_NEAR(find_click(clips_, 2.01), 2.01, 0.00003);
  EXPECT_EQ(timeline_.gaps(), 0);
}

TEST_F(SoundTimelineTest, OverlapIsCutAway) {
  feed(clicks({0.5, 2}, 3, kRate),
       [](std::size_t at) { return exact_us(at) - (at >= kRate ? 100000 : 0); });
  EXPECT_NEAR(find_click(clips_, 0.5), 0.5, 0.00003);
  EXPECT_NEAR(find_click(clips_, 1.9), 1.9, 0.00003);
  EXPECT_NEAR(end_s(), 2.9, 0.0001);
}

// A sound card that runs 0.1 % fast: after 100 s the count of samples alone would be 100 ms off.
TEST_F(SoundTimelineTest, DriftingClockStaysWithinSixMilliseconds) {
  feed(clicks({0.5, 99.5}, 100, kRate), [](std::size_t at) { return exact_us(at) * 1001 / 1000; });
  EXPECT_NEAR(find_click(clips_, 99.5 * 1.001), 99.5 * 1.001, 0.0075);
}

// The resampler's filter overshoots at steps; found by the fuzzer.
TEST_F(SoundTimelineTest, LoudStepsStayWithinTheLimit) {
  std::vector<float> sound(kRate / 2);
  for (std::size_t i = 0; i < sound.size(); ++i) {
    sound[i] = (i / 100) % 2 == 0 ? AudioClip::kLimit : -AudioClip::kLimit;
  }
  feed(sound, exact_us);
  ASSERT_FALSE(clips_.empty());
  float largest = 0;
  for (const AudioClip& clip : clips_) {
    for (const float sample : clip.samples) largest = std::max(largest, std::abs(sample));
  }
  EXPECT_EQ(largest, AudioClip::kLimit);
}

TEST_F(SoundTimelineTest, LongHoleBeginsANewRun) {
  const std::int64_t hour_us = 3600'000'000;
  feed(clicks({0.5, 2}, 3, kRate),
       [&](std::size_t at) { return exact_us(at) + (at >= kRate ? hour_us : 0); });
  std::size_t samples = 0;
  for (const AudioClip& clip : clips_) samples += clip.samples.size();
  EXPECT_EQ(samples, 3U * 16000);
  EXPECT_NEAR(find_click(clips_, 3602), 3602, 0.00003);
  EXPECT_EQ(timeline_.gaps(), 1);
}

TEST_F(SoundTimelineTest, HoleOfNineSecondsIsSilence) {
  feed(clicks({0.5, 2}, 3, kRate),
       [](std::size_t at) { return exact_us(at) + (at >= kRate ? 9'000'000 : 0); });
  double end = 0;
  for (const AudioClip& clip : clips_) {
    EXPECT_NEAR(clip.start.seconds(), end, 0.000002);
    end = clip.start.seconds() + static_cast<double>(clip.samples.size()) / 16000;
  }
  EXPECT_NEAR(end, 12, 0.0001);
  EXPECT_NEAR(find_click(clips_, 11), 11, 0.00003);
}

TEST_F(SoundTimelineTest, FramesWithoutStampsFollowOn) {
  const std::vector<float> sound = clicks({0.5}, 1, kRate);
  for (std::size_t at = 0; at + kFrame <= sound.size(); at += kFrame) {
    std::optional<MediaTime> stamp;
    if (at == 0) stamp = MediaTime{-2'000'000};
    timeline_.add({sound.data() + at, kFrame}, kRate, stamp, kTick);
  }
  finish();
  EXPECT_NEAR(find_click(clips_, -1.5), -1.5, 0.00003);
}

TEST_F(SoundTimelineTest, ChangeOfRateKeepsTime) {
  const std::vector<float> first = clicks({0.5}, 1, 44100);
  const std::vector<float> second = clicks({0.5}, 1, 8000);
  timeline_.add(first, 44100, MediaTime{0}, kTick);
  timeline_.add(second, 8000, MediaTime{1'000'400}, kTick);  // a rounded stamp
  finish();
  EXPECT_NEAR(find_click(clips_, 0.5), 0.5, 0.00003);
  EXPECT_NEAR(find_click(clips_, 1.5), 1.5, 0.0001);
}

TEST(ClipBuilderTest, WindowIsExactToTheSample) {
  std::vector<AudioClip> clips;
  ClipBuilder builder(MediaTime{1000}, MediaTime{2000},
                      [&](AudioClip clip) { clips.push_back(std::move(clip)); });
  std::vector<float> ramp(64);
  for (std::size_t i = 0; i < ramp.size(); ++i) ramp[i] = static_cast<float>(i);
  builder.add({MediaTime{0}, 0}, ramp);  // one sample is 62.5 us
  builder.finish();
  ASSERT_EQ(clips.size(), 1U);
  EXPECT_EQ(clips[0].start.us, 1000);
  ASSERT_EQ(clips[0].samples.size(), 16U);
  EXPECT_EQ(clips[0].samples.front(), 16);
  EXPECT_EQ(clips[0].samples.back(), 31);
  EXPECT_TRUE(builder.past_end());
}

}  // namespace
}  // namespace av_fusion
