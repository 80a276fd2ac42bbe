// Copyright 2026 The av_fusion authors. SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <numeric>
#include <tuple>

#include "media_test_util.h"

namespace av_fusion {
namespace {

const std::string kPicture = "-f lavfi -i color=s=32x32:r=25:d=3 ";

std::string raw_input(int rate_hz, int channels = 1) {
  return "-f f32le -ar " + std::to_string(rate_hz) + " -ac " + std::to_string(channels) +
         " -i sound.raw ";
}

// Clicks between samples as well as on them.
const std::vector<double> kClickTimes = {0.5, 1.2500321, 2.0001007};

using ClickCase = std::tuple<int, const char*, const char*, double>;

class ClickTest : public testing::TestWithParam<ClickCase> {};

TEST_P(ClickTest, IsHeardWhereItWasPut) {
  REQUIRE_FFMPEG_COMMAND();
  const auto& [rate_hz, codec, file, tolerance_s] = GetParam();
  const TempDir dir;
  write_floats(dir / "sound.raw", clicks(kClickTimes, 3, rate_hz));
  ASSERT_TRUE(dir.ffmpeg(kPicture + raw_input(rate_hz) + "-c:v mpeg4 -c:a " + codec + " " + file));
  const Decoded decoded = decode(dir / file);
  ASSERT_FALSE(decoded.frames.empty());
  const double picture_s = decoded.frames.front().time.seconds();
  for (const double time : kClickTimes) {
    EXPECT_NEAR(find_click(decoded.clips, picture_s + time) - picture_s, time, tolerance_s);
  }
  EXPECT_EQ(decoded.stats.audio_gaps, 0);
  EXPECT_NEAR(decoded.stats.end_of_sound->seconds() - picture_s, 3, 0.3);
}

// Matroska rounds the start of the sound (priming included) and of the picture to whole
// milliseconds, which no reader can undo; PCM in it starts at zero, where nothing is lost.
INSTANTIATE_TEST_SUITE_P(All, ClickTest,
                         testing::Values(ClickCase{8000, "pcm_s16le", "a.mkv", 0.00005},
                                         ClickCase{16000, "pcm_s16le", "a.mkv", 0.00005},
                                         ClickCase{44100, "pcm_f32le", "a.mkv", 0.00005},
                                         ClickCase{48000, "pcm_s24le", "a.mkv", 0.00005},
                                         ClickCase{96000, "flac", "a.mkv", 0.00005},
                                         ClickCase{8000, "pcm_s16le", "a.mov", 0.00005},
                                         ClickCase{44100, "pcm_s16le", "a.mov", 0.00005},
                                         ClickCase{48000, "pcm_s16le", "a.mov", 0.00005},
                                         ClickCase{8000, "aac", "a.mp4", 0.0002},
                                         ClickCase{44100, "aac -b:a 128k", "a.mp4", 0.0002},
                                         ClickCase{48000, "aac -b:a 128k", "a.mp4", 0.0002},
                                         ClickCase{8000, "aac", "a.mkv", 0.0007},
                                         ClickCase{44100, "aac -b:a 128k", "a.mkv", 0.0007},
                                         ClickCase{48000, "aac -b:a 128k", "a.mkv", 0.0007}));

TEST(SoundTest, ObeysAStartTimeOf760Ms) {
  REQUIRE_FFMPEG_COMMAND();
  const TempDir dir;
  write_floats(dir / "sound.raw", clicks({0.5}, 2, 48000));
  ASSERT_TRUE(dir.ffmpeg(kPicture + "-itsoffset 0.76 " + raw_input(48000) +
                         "-c:v mpeg4 -c:a pcm_s16le late.mkv"));
  const Decoded decoded = decode(dir / "late.mkv");
  EXPECT_EQ(decoded.origin.us, 0);
  EXPECT_EQ(decoded.info.streams[1].start->us, 760000);
  EXPECT_EQ(decoded.stats.first_sample->us, 760000);
  EXPECT_NEAR(find_click(decoded.clips, 1.26), 1.26, 0.0001);
}

TEST(SoundTest, FillsAGapWithSilenceAndCountsIt) {
  REQUIRE_FFMPEG_COMMAND();
  const TempDir dir;
  std::vector<float> sound = clicks({0.5, 2.5}, 3, 48000);
  for (std::size_t i = 48000; i < 2 * 48000; ++i) sound[i] = 0.5F;  // most of it is cut out
  write_floats(dir / "sound.raw", sound);
  ASSERT_TRUE(dir.ffmpeg("-copyts " + raw_input(48000) +
                         "-af \"aselect='not(between(t,1.1,1.8))'\" -c:a pcm_s16le gap.mkv"));
  const Decoded decoded = decode(dir / "gap.mkv");
  EXPECT_EQ(decoded.stats.audio_gaps, 1);
  EXPECT_NEAR(decoded.stats.end_of_sound->seconds(), 3, 0.001);
  EXPECT_NEAR(static_cast<double>(decoded.stats.samples), 3 * 16000, 16);
  EXPECT_NEAR(find_click(decoded.clips, 0.5), 0.5, 0.0001);
  EXPECT_NEAR(find_click(decoded.clips, 2.5), 2.5, 0.0006);
  const std::vector<float> samples = decoded.samples();
  for (std::size_t i = 19000; i < 28000; ++i) ASSERT_NEAR(samples[i], 0, 1e-6) << i;
  EXPECT_NEAR(samples[17000], 0.5, 0.01);
  EXPECT_NEAR(samples[31000], 0.5, 0.01);
}

TEST(SoundTest, ClipsAreShortAndFollowEachOther) {
  REQUIRE_FFMPEG_COMMAND();
  const TempDir dir;
  write_floats(dir / "sound.raw", std::vector<float>(44100 * 5, 0.25F));
  ASSERT_TRUE(dir.ffmpeg(raw_input(44100) + "-c:a pcm_f32le a.mkv"));
  const Decoded decoded = decode(dir / "a.mkv");
  double end_s = 0;
  for (const AudioClip& clip : decoded.clips) {
    EXPECT_NEAR(clip.start.seconds(), end_s, 0.000002);
    EXPECT_LE(clip.samples.size(), 16000U);
    end_s = clip.start.seconds() + static_cast<double>(clip.samples.size()) / 16000;
  }
  EXPECT_NEAR(end_s, 5, 0.0001);
}

TEST(SoundTest, NotANumberBecomesSilenceAndHugeValuesAreLimited) {
  REQUIRE_FFMPEG_COMMAND();
  const TempDir dir;
  std::vector<float> sound(16000, 0.5F);
  for (std::size_t i = 4000; i < 5000; ++i) sound[i] = std::nanf("");
  for (std::size_t i = 8000; i < 9000; ++i) sound[i] = -INFINITY;
  for (std::size_t i = 12000; i < 13000; ++i) sound[i] = 1e30F;
  write_floats(dir / "sound.raw", sound);
  ASSERT_TRUE(dir.ffmpeg(raw_input(16000) + "-c:a copy a.mkv"));
  const std::vector<float> samples = decode(dir / "a.mkv").samples();
  ASSERT_EQ(samples.size(), sound.size());
  for (std::size_t i = 0; i < samples.size(); ++i) {
    const float expected = std::isfinite(sound[i]) ? std::min(sound[i], 8.0F) : 0.0F;
    ASSERT_EQ(samples[i], expected) << i;
  }
}

TEST(SoundTest, ResamplesATonePurely) {
  REQUIRE_FFMPEG_COMMAND();
  const TempDir dir;
  std::vector<float> sound(44100 * 2);
  const double step = 2 * M_PI * 1000;
  for (std::size_t i = 0; i < sound.size(); ++i) {
    sound[i] = static_cast<float>(0.5 * std::sin(step * static_cast<double>(i) / 44100));
  }
  write_floats(dir / "sound.raw", sound);
  ASSERT_TRUE(dir.ffmpeg(raw_input(44100) + "-c:a copy a.mkv"));
  const std::vector<float> samples = decode(dir / "a.mkv").samples();
  for (std::size_t i = 800; i < 31200; ++i) {
    const double expected = 0.5 * std::sin(step * static_cast<double>(i) / 16000);
    ASSERT_NEAR(samples[i], expected, 0.002) << i;
  }
}

TEST(SoundTest, MixesFivePointOne) {
  REQUIRE_FFMPEG_COMMAND();
  const TempDir dir;
  const std::vector<float> channels = {0.1F, 0.2F, 0.4F, 0.9F, -0.3F, 0.6F};  // FL FR FC LFE BL BR
  std::vector<float> sound;
  for (int i = 0; i < 16000; ++i) sound.insert(sound.end(), channels.begin(), channels.end());
  write_floats(dir / "sound.raw", sound);
  ASSERT_TRUE(dir.ffmpeg("-f f32le -ar 16000 -channel_layout 5.1 -i sound.raw -c:a copy a.mov") ||
              dir.ffmpeg("-f f32le -ar 16000 -ch_layout 5.1 -i sound.raw -c:a copy a.mov"));
  const Decoded decoded = decode(dir / "a.mov");
  EXPECT_EQ(decoded.info.streams[0].channels, 6);
  const double root = std::sqrt(0.5);
  const double sum = 1 + 2 * root + 2 * 0.5;
  const double expected = (0.4 + root * 0.3 + 0.5 * 0.3) / sum;
  EXPECT_NEAR(decoded.samples().at(8000), expected, 1e-5);
}

// Two transport streams joined, the second with its own rate and later time stamps.
TEST(SoundTest, ChangeOfRateInTheMiddleKeepsTime) {
  REQUIRE_FFMPEG_COMMAND();
  const TempDir dir;
  const std::string codec = "-c:a mp2 -b:a 192k ";
  write_floats(dir / "sound.raw", clicks({0.5}, 1, 48000));
  ASSERT_TRUE(dir.ffmpeg(raw_input(48000) + codec + "a.ts"));
  write_floats(dir / "sound.raw", clicks({0.5}, 1, 32000));
  ASSERT_TRUE(dir.ffmpeg(raw_input(32000) + codec + "-output_ts_offset 1.1 b.ts"));
  const Decoded a = decode(dir / "a.ts");
  const Decoded b = decode(dir / "b.ts");
  const double a_s = find_click(a.clips, a.stats.first_sample->seconds() + 0.5 + 481.0 / 48000);
  const double b_s = find_click(b.clips, b.stats.first_sample->seconds() + 0.5 + 481.0 / 32000);
  std::vector<std::uint8_t> joined = read_file(dir / "a.ts");
  const std::vector<std::uint8_t> second = read_file(dir / "b.ts");
  joined.insert(joined.end(), second.begin(), second.end());
  write_file(dir / "joined.ts", joined);
  const Decoded decoded = decode(dir / "joined.ts");
  EXPECT_NEAR(find_click(decoded.clips, a_s), a_s, 0.0001);
  EXPECT_NEAR(find_click(decoded.clips, b_s), b_s, 0.0001);
  EXPECT_NEAR(decoded.stats.end_of_sound->seconds(), b.stats.end_of_sound->seconds(), 0.0001);
}

TEST(SoundTest, PrefersTheDefaultTrack) {
  REQUIRE_FFMPEG_COMMAND();
  const TempDir dir;
  write_floats(dir / "sound.raw", std::vector<float>(16000, 0.5F));
  ASSERT_TRUE(dir.ffmpeg(raw_input(16000) +
                         "-map 0 -map 0 -c:a pcm_f32le -metadata:s:a:0 language=eng "
                         "-metadata:s:a:1 language=jpn -disposition:a:0 0 -disposition:a:1 default "
                         "a.mkv"));
  const Decoded decoded = decode(dir / "a.mkv");
  EXPECT_EQ(decoded.info.audio, 1);
  EXPECT_FALSE(decoded.info.video.has_value());
  EXPECT_EQ(decoded.info.streams[1].language, "jpn");
}

}  // namespace
}  // namespace av_fusion
