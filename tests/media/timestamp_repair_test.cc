// Copyright 2026 The av_fusion authors. SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <limits>

#include "av_fusion/media/timestamp_repair_internal.h"

namespace av_fusion {
namespace {

constexpr AVRational kMilliseconds{1, 1000};

class TimestampRepairTest : public testing::Test {
 protected:
  // The corrected time of a packet of 40 ms.
  std::int64_t apply(int stream, std::int64_t ms) {
    FfmpegPtr<AVPacket> packet = own(av_packet_alloc());
    packet->stream_index = stream;
    packet->dts = ms;
    packet->pts = ms + 80;
    packet->duration = 40;
    repair_.apply(*packet, kMilliseconds);
    EXPECT_EQ(packet->pts, packet->dts + 80);
    return packet->dts;
  }

  TimestampRepair repair_{2};
};

TEST_F(TimestampRepairTest, LeavesAnEvenClockAlone) {
  for (std::int64_t ms = -500; ms < 3000; ms += 40) {
    EXPECT_EQ(apply(0, ms), ms);
    EXPECT_EQ(apply(1, ms + 300), ms + 300);
  }
  EXPECT_EQ(apply(0, 8000), 8000);  // a hole is not a jump
  EXPECT_EQ(repair_.jumps(), 0);
}

TEST_F(TimestampRepairTest, MovesBothStreamsByTheSameAmount) {
  EXPECT_EQ(apply(0, 0), 0);
  EXPECT_EQ(apply(1, 10), 10);
  EXPECT_EQ(apply(0, 5'000'000), 40);  // a jump forwards
  EXPECT_EQ(apply(1, 50), 50);         // the other stream has not got there yet
  EXPECT_EQ(apply(1, 5'000'020), 60);  // 20 ms after the picture, as in the file
  EXPECT_EQ(apply(0, 5'000'040), 80);
  EXPECT_EQ(apply(0, 1000), 120);  // and back
  EXPECT_EQ(apply(1, 1025), 145);
  EXPECT_EQ(repair_.jumps(), 2);
}

// Stamps as damaged files have them; found by the fuzzer. The sanitizers watch the sums.
TEST(FarStamps, AreLimitedSoThatTheyCanBeAdded) {
  constexpr std::int64_t kFar = std::numeric_limits<std::int64_t>::max();
  EXPECT_EQ(to_us(kFar, {1, 1}), std::int64_t{1} << 60);
  EXPECT_EQ(to_us(-kFar, {1, 1}), -(std::int64_t{1} << 60));
  EXPECT_EQ(to_us(1'000'000'000, {1, 1000}), 1'000'000'000'000);

  TimestampRepair repair(1);
  FfmpegPtr<AVPacket> packet = own(av_packet_alloc());
  packet->stream_index = 0;
  for (const std::int64_t stamp : {kFar, -kFar, kFar - 1, std::int64_t{0}, -kFar}) {
    packet->dts = stamp;
    packet->pts = stamp;
    packet->duration = kFar;
    repair.apply(*packet, {1, 1000});
  }
  EXPECT_GT(repair.jumps(), 0);
}

}  // namespace
}  // namespace av_fusion
