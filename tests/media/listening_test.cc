// Copyright 2026 The av_fusion authors. SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <cstring>

#include "made_sound.h"
#include "media_test_util.h"

// Which channel of a file MediaReader listens to.

namespace av_fusion {
namespace {

using Channels = std::vector<std::vector<float>>;

constexpr double kLength = 12;
const std::string kPicture = "-f lavfi -i testsrc=s=64x64:r=25:d=12 ";

class ListeningTest : public testing::Test {
 protected:
  void SetUp() override { REQUIRE_FFMPEG_COMMAND(); }

  // Writes a file with these channels and a picture; `layout` as FFmpeg calls it.
  void make(const std::string& file, const Channels& channels, const std::string& layout,
            const std::string& codec = "pcm_f32le") {
    std::vector<float> sound;
    for (std::size_t i = 0; i < channels.front().size(); ++i) {
      for (const std::vector<float>& channel : channels) sound.push_back(channel[i]);
    }
    write_floats(dir_ / "sound.raw", sound);
    const auto command = [&](const std::string& option) {
      return kPicture + "-f f32le -ar 16000 " + option + layout + " -i sound.raw -c:v mpeg4 -c:a " +
             codec + " " + file;
    };
    ASSERT_TRUE(dir_.ffmpeg(command("-channel_layout ")) || dir_.ffmpeg(command("-ch_layout ")));
  }

  Decoded listen(const std::string& file, const std::string& channel = "auto") {
    MediaReader::Options options;
    options.audio_channel = AudioChannel::parse(channel);
    options.log = [this](LogLevel level, std::string_view text) {
      if (level != LogLevel::kDebug) log_ += std::string(text) + "\n";
    };
    return decode(dir_ / file, options);
  }

  std::string refusal(const std::string& file, const std::string& channel) {
    return error_of([&] { listen(file, channel); });
  }

  TempDir dir_;
  std::string log_;
  const std::vector<float> speech_ = sample_speech(kLength);
  const std::vector<float> music_ = made_music(kLength, 112);
};

TEST_F(ListeningTest, TheCentreOfFivePointOne) {
  const std::vector<float> nothing(speech_.size());
  make("film.mov", {music_, scaled(music_, 0.8), speech_, nothing, music_, nothing}, "5.1");
  const Decoded chosen = listen("film.mov");
  EXPECT_EQ(chosen.stats.audio_channel, "FC");
  EXPECT_EQ(chosen.samples(), speech_);
  EXPECT_NE(log_.find("channel used: FC"), std::string::npos) << log_;
  EXPECT_EQ(listen("film.mov", "fc").samples(), speech_);
  const Decoded second = listen("film.mov", "2");
  EXPECT_EQ(second.stats.audio_channel, "FC");
  EXPECT_EQ(second.samples(), speech_);
  EXPECT_EQ(listen("film.mov", "FL").samples(), music_);
  const Decoded mixed = listen("film.mov", "downmix");
  EXPECT_EQ(mixed.stats.audio_channel, "downmix");
  EXPECT_NE(mixed.samples(), speech_);
}

TEST_F(ListeningTest, AbsentChannelsAreListed) {
  make("film.mov", Channels(6, music_), "5.1");
  const std::string list = "; channels are: 0 (FL), 1 (FR), 2 (FC), 3 (LFE), 4 (BL), 5 (BR)";
  const std::string place = "not_found | " + (dir_ / "film.mov").string() + ": ";
  EXPECT_EQ(refusal("film.mov", "SL"), place + "the sound has no channel \"SL\"" + list);
  EXPECT_EQ(refusal("film.mov", "6"), place + "the sound has no channel \"6\"" + list);
  EXPECT_EQ(refusal("film.mov", "difference"),
            place + "there is a difference of two channels only" + list);
  MediaReader::Options options;
  options.audio_channel = {AudioChannel::Kind::kNumber, -1, {}};
  EXPECT_EQ(error_of([&] { decode(dir_ / "film.mov", options); }),
            place + "the sound has no channel \"-1\"" + list);
}

TEST_F(ListeningTest, AntiphaseIsHeardAndSaid) {
  make("anti.mkv", {speech_, scaled(speech_, -1)}, "stereo", "aac -b:a 128k");
  const Decoded decoded = listen("anti.mkv");
  EXPECT_EQ(decoded.stats.audio_channel, "difference");
  EXPECT_NE(log_.find("cancel each other"), std::string::npos) << log_;
  const auto power = [](const std::vector<float>& sound) {
    double sum = 0;
    for (const float x : sound) sum += static_cast<double>(x) * x;
    return sum / static_cast<double>(sound.size());
  };
  EXPECT_NEAR(power(decoded.samples()), 0.01, 0.001);
  EXPECT_LT(power(listen("anti.mkv", "downmix").samples()), 0.001);
}

TEST_F(ListeningTest, OneSideSpeaks) {
  make("right.mkv", {music_, speech_}, "stereo", "aac -b:a 128k");
  EXPECT_EQ(listen("right.mkv").stats.audio_channel, "FR");
}

TEST_F(ListeningTest, OrdinarySoundIsNotTouched) {
  make("mono.mkv", {speech_}, "mono");
  make("stereo.mkv", {speech_, sum_of(speech_, scaled(music_, 0.2))}, "stereo", "aac");
  for (const char* file : {"mono.mkv", "stereo.mkv"}) {
    const Decoded chosen = listen(file);
    const Decoded mixed = listen(file, "downmix");
    EXPECT_EQ(chosen.stats.audio_channel, "downmix");
    EXPECT_EQ(chosen.samples(), mixed.samples());
    ASSERT_EQ(chosen.clips.size(), mixed.clips.size());
    for (std::size_t i = 0; i < chosen.clips.size(); ++i) {
      EXPECT_EQ(chosen.clips[i].start, mixed.clips[i].start);
    }
    EXPECT_EQ(chosen.frames.size(), mixed.frames.size());
    EXPECT_EQ(chosen.stats.decode_errors, 0);
  }
  EXPECT_EQ(log_, "");
}

TEST_F(ListeningTest, APipeGivesTheSameAsAFile) {
  make("right.mkv", {music_, speech_}, "stereo");
  const std::vector<std::uint8_t> file = read_file(dir_ / "right.mkv");
  std::size_t at = 0;
  const auto read = [&](std::span<std::byte> buffer) {
    const std::size_t count = std::min({buffer.size(), file.size() - at, std::size_t{777}});
    std::memcpy(buffer.data(), file.data() + at, count);
    at += count;
    return count;
  };
  const Decoded piped = decode(MediaSource::from_callback(read));
  EXPECT_EQ(piped.stats.audio_channel, "FR");
  EXPECT_EQ(piped.samples(), speech_);
  EXPECT_EQ(piped.frames.size(), 300U);
}

TEST_F(ListeningTest, DecidesAtTheFirstStep) {
  make("right.mkv", {music_, speech_}, "stereo");
  MediaReader reader(MediaSource::from_path(dir_ / "right.mkv"));
  EXPECT_EQ(reader.stats().audio_channel, "");
  reader.next();
  EXPECT_EQ(reader.stats().audio_channel, "FR");
  MediaReader::Options options;
  options.decode_audio = false;
  EXPECT_EQ(decode(dir_ / "right.mkv", options).stats.audio_channel, "");
}

TEST_F(ListeningTest, LooksAtThePartThatIsAskedFor) {
  std::vector<float> left = speech_;
  std::vector<float> right = music_;
  std::swap_ranges(left.begin() + 96000, left.end(), right.begin() + 96000);
  make("change.mkv", {left, right}, "stereo");
  MediaReader::Options options;
  options.start = MediaDuration::from_seconds(7);
  EXPECT_EQ(decode(dir_ / "change.mkv", options).stats.audio_channel, "FR");
}

// The reader has read ahead when the source breaks; what came before is handed out all the same.
TEST_F(ListeningTest, AnErrorOfTheSourceKeepsItsPlace) {
  make("right.mkv", {music_, speech_}, "stereo");
  const std::vector<std::uint8_t> file = read_file(dir_ / "right.mkv");
  std::size_t at = 0;
  bool broken = false;
  const auto read = [&](std::span<std::byte> buffer) {
    if (at > file.size() / 2 && !std::exchange(broken, true)) {
      throw Error(ErrorCode::kIo, "tape", "torn");
    }
    const std::size_t count = std::min({buffer.size(), file.size() - at, std::size_t{500}});
    std::memcpy(buffer.data(), file.data() + at, count);
    at += count;
    return count;
  };
  MediaReader reader(MediaSource::from_callback(read));
  int events = 0;
  EXPECT_EQ(error_of([&] {
              while (reader.next()) ++events;
            }),
            "io | tape: torn");
  EXPECT_GT(events, 150);
  EXPECT_EQ(reader.stats().audio_channel, "FR");
}

TEST_F(ListeningTest, PartsWithoutTheChannelAreMixed) {
  make("a.ts", Channels(6, speech_), "5.1", "ac3");
  make("b.ts", {speech_, scaled(speech_, 0.5)}, "stereo", "ac3 -output_ts_offset 12.1");
  std::vector<std::uint8_t> joined = read_file(dir_ / "a.ts");
  const std::vector<std::uint8_t> second = read_file(dir_ / "b.ts");
  joined.insert(joined.end(), second.begin(), second.end());
  write_file(dir_ / "joined.ts", joined);
  const Decoded decoded = listen("joined.ts", "FC");
  EXPECT_EQ(decoded.stats.audio_channel, "FC");
  EXPECT_NE(log_.find("parts of the sound have no channel FC"), std::string::npos) << log_;
  EXPECT_GT(decoded.stats.samples, 23 * 16000);
}

// Real voices beside music, at levels from even to a third.
TEST_F(ListeningTest, RealVoices) {
  const std::filesystem::path folder = std::filesystem::path(AV_FUSION_SHARED_DIR) / "data/val/web";
  if (std::string(AV_FUSION_SHARED_DIR).empty() || !std::filesystem::exists(folder)) {
    GTEST_SKIP() << "the talking-face clips are not there (AV_FUSION_SHARED_DIR)";
  }
  int clips = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    MediaReader::Options options;
    options.decode_video = false;
    std::vector<float> voice = decode(entry.path(), options).samples();
    if (voice.size() < 5 * 16000) continue;
    voice.resize(std::min(voice.size(), speech_.size()));
    voice = with_level(std::move(voice));
    const std::vector<float> music(music_.begin(),
                                   music_.begin() + static_cast<std::ptrdiff_t>(voice.size()));
    const std::vector<float> nothing(voice.size());
    ++clips;
    SCOPED_TRACE(entry.path().filename().string());
    make("side.mkv", {music, voice}, "stereo");
    EXPECT_EQ(listen("side.mkv").stats.audio_channel, "FR");
    make("film.mov", {music, music, voice, nothing, scaled(music, 0.3), nothing}, "5.1");
    EXPECT_EQ(listen("film.mov").stats.audio_channel, "FC");
    make("both.mkv", {voice, sum_of(voice, scaled(music, 0.3))}, "stereo");
    EXPECT_EQ(listen("both.mkv").stats.audio_channel, "downmix");
    make("anti.mkv", {voice, scaled(voice, -1)}, "stereo");
    EXPECT_EQ(listen("anti.mkv").stats.audio_channel, "difference");
  }
  EXPECT_GT(clips, 5);
}

}  // namespace
}  // namespace av_fusion
