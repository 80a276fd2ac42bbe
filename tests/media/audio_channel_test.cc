// Copyright 2026 The av_fusion authors. SPDX-License-Identifier: Apache-2.0
#include "av_fusion/media/audio_channel.h"

#include "media_test_util.h"

namespace av_fusion {
namespace {

using Kind = AudioChannel::Kind;

TEST(AudioChannelTest, ReadsWhatItWrites) {
  for (const char* text : {"auto", "downmix", "difference", "0", "17", "FC", "LFE2"}) {
    EXPECT_EQ(AudioChannel::parse(text).to_string(), text);
  }
}

TEST(AudioChannelTest, TellsNumbersFromNames) {
  EXPECT_EQ(AudioChannel::parse("Auto"), AudioChannel());
  EXPECT_EQ(AudioChannel::parse("DownMix").kind, Kind::kDownmix);
  EXPECT_EQ(AudioChannel::parse("03").number, 3);
  EXPECT_EQ(AudioChannel::parse("03").kind, Kind::kNumber);
  EXPECT_EQ(AudioChannel::parse("fc").name, "FC");
  EXPECT_EQ(AudioChannel::parse("fc").kind, Kind::kName);
}

TEST(AudioChannelTest, RefusesWhatIsNoChannel) {
  for (const char* text : {"", "-1", "1.5", " 1", "F C", "99999999999", "centre channel, please",
                           "ABCDEFGHIJKLMNOPQ", "\xc3\xa4"}) {
    EXPECT_EQ(error_of([&] { AudioChannel::parse(text); }).substr(0, 16), "invalid_argument")
        << text;
  }
}

}  // namespace
}  // namespace av_fusion
