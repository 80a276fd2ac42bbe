// Copyright 2026 The av_fusion authors. SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <cstring>
#include <fstream>

#include "media_test_util.h"

// Files whose pictures say their number by their brightness and whose sound has one click, so that
// what a player shows and plays first can be told from the content, without a time stamp.

namespace av_fusion {
namespace {

constexpr double kFps = 25;
constexpr int kSize = 32;
constexpr int kRate = 48000;
constexpr double kClickS = 2.5;

std::vector<float> read_floats(const std::filesystem::path& path) {
  const std::vector<std::uint8_t> bytes = read_file(path);
  std::vector<float> samples(bytes.size() / sizeof(float));
  std::memcpy(samples.data(), bytes.data(), samples.size() * sizeof(float));
  return samples;
}

class ContainerTimingTest : public testing::Test {
 protected:
  void SetUp() override {
    REQUIRE_FFMPEG_COMMAND();
    write_floats(dir_ / "sound.raw", clicks({kClickS}, 4, kRate));
    ASSERT_TRUE(
        dir_.ffmpeg("-f lavfi -i \"color=black:s=32x32:r=25:d=4,geq=lum='16+2*N':cb=128:"
                    "cr=128\" -f f32le -ar 48000 -ac 1 -i sound.raw -c:v ffv1 "
                    "-pix_fmt yuv420p -c:a pcm_f32le base.mkv"));
  }

  // `arguments` before and after "-i base.mkv".
  void make(const std::string& file, const std::string& after, const std::string& before = "") {
    ASSERT_TRUE(dir_.ffmpeg(before + " -i base.mkv " + after + " " + file));
  }

  ContainerTiming timing_of(const std::string& file) {
    return MediaReader(MediaSource::from_path(dir_ / file)).info().timing;
  }

  double shift_ms(const std::string& file) {
    const std::optional<MediaDuration> shift = timing_of(file).shift_if_ignored();
    return shift ? shift->ms() : NAN;
  }

  // The offset (> 0: sound early) that a player shows that begins with all that is stored. Done by
  // the ffmpeg command, which ignores edit lists and priming if told so, and without time stamps.
  double careless_offset_ms(const std::string& file) {
    const std::string input = "-ignore_editlist 1 -flags2 +skip_manual -i " + file + " ";
    EXPECT_TRUE(dir_.ffmpeg(input + "-map 0:v -frames:v 1 -f rawvideo -pix_fmt yuv420p first.yuv"));
    EXPECT_TRUE(dir_.ffmpeg(input + "-map 0:a -f f32le first.raw"));
    double luma = 0;
    for (int i = 0; i < kSize * kSize; ++i)
      luma += read_file(dir_ / "first.yuv").at(static_cast<std::size_t>(i)) / double{kSize * kSize};
    const double picture_s = std::round((luma - 16) / 2) / kFps;
    const std::vector<float> sound = read_floats(dir_ / "first.raw");
    const auto loudest = std::max_element(sound.begin(), sound.end());
    const double sound_s = kClickS - static_cast<double>(loudest - sound.begin()) / kRate;
    return (sound_s - picture_s) * 1000;
  }

  // The offset that MediaReader shows, by its first picture.
  double offset_ms(const std::string& file) {
    const Decoded decoded = decode(dir_ / file);
    const VideoFrame& frame = decoded.frames.at(0);
    double luma = 0;
    for (const std::uint8_t value : frame.luma.elements()) luma += value;
    luma /= static_cast<double>(frame.luma.elements().size());
    const double picture_s = std::round(luma * 219 / 255 / 2) / kFps;
    const double picture_late_s = frame.time.seconds() - picture_s;
    double loudest = 0;
    double click_s = 0;
    for (const AudioClip& clip : decoded.clips) {
      for (std::size_t i = 0; i < clip.samples.size(); ++i) {
        if (clip.samples[i] <= loudest) continue;
        loudest = clip.samples[i];
        click_s = clip.start.seconds() + static_cast<double>(i) / AudioClip::kSampleRateHz;
      }
    }
    return (picture_late_s - (click_s - kClickS)) * 1000;
  }

  TempDir dir_;
};

TEST_F(ContainerTimingTest, NothingToReport) {
  make("plain.mkv", "-c:v mpeg4 -c:a pcm_s16le");
  make("plain.mov", "-c:v mpeg4 -c:a pcm_s16le");
  make("plain.avi", "-c:v mpeg4 -c:a pcm_s16le");
  for (const char* file : {"plain.mkv", "plain.mov", "plain.avi"}) {
    const ContainerTiming timing = timing_of(file);
    EXPECT_EQ(timing.first_stored_picture->us, 0) << file;
    EXPECT_EQ(timing.first_stored_sample->us, 0) << file;
    EXPECT_EQ(timing.audio_priming.us, 0) << file;
    EXPECT_EQ(timing.edit_list, false) << file;
    EXPECT_EQ(timing.shift_if_ignored()->us, 0) << file;
  }
}

TEST_F(ContainerTimingTest, StartTimes) {
  const std::string codecs = "-map 0:v -map 1:a -c:v mpeg4 -c:a pcm_s16le";
  make("sound_late.mkv", "-itsoffset 0.76 -i base.mkv " + codecs);
  EXPECT_EQ(shift_ms("sound_late.mkv"), 760);
  EXPECT_EQ(timing_of("sound_late.mkv").edit_list, false);
  EXPECT_NEAR(offset_ms("sound_late.mkv"), -760, 1);
  make("picture_late.mkv",
       "-itsoffset -0.48 -i base.mkv -map 0:v -map 1:a -c:v mpeg4 -c:a pcm_s16le", "");
  EXPECT_NEAR(shift_ms("picture_late.mkv"), -480, 1);
}

TEST_F(ContainerTimingTest, TransportStream) {
  make("a.ts", "-c:v mpeg2video -bf 2 -g 10 -c:a mp2");
  const MediaReader reader(MediaSource::from_path(dir_ / "a.ts"));
  const ContainerTiming& timing = reader.info().timing;
  const MediaInfo& info = reader.info();
  EXPECT_GT(timing.first_stored_picture->seconds(), 1);
  EXPECT_EQ(timing.first_stored_picture,
            info.streams.at(static_cast<std::size_t>(*info.video)).start);
  EXPECT_EQ(timing.first_stored_sample,
            info.streams.at(static_cast<std::size_t>(*info.audio)).start);
  EXPECT_EQ(timing.edit_list, false);
}

TEST_F(ContainerTimingTest, PrimingThatAnEditListHides) {
  make("aac.mp4", "-c:v mpeg4 -q:v 2 -c:a aac -b:a 128k");
  const ContainerTiming timing = timing_of("aac.mp4");
  EXPECT_NEAR(timing.audio_priming.ms(), 1024 / 48.0, 0.01);
  EXPECT_EQ(timing.edit_list, true);
  EXPECT_NEAR(shift_ms("aac.mp4"), -1024 / 48.0, 0.1);
  EXPECT_NEAR(offset_ms("aac.mp4"), 0, 1);
  EXPECT_NEAR(careless_offset_ms("aac.mp4"), -1024 / 48.0, 1);
}

TEST_F(ContainerTimingTest, PrimingThatNobodySignals) {
  make("no_list.mp4", "-c:v mpeg4 -q:v 2 -c:a aac -b:a 128k -use_editlist 0");
  make("fragments.mp4",
       "-c:v mpeg4 -q:v 2 -c:a aac -b:a 128k -use_editlist 0 -movflags "
       "+frag_keyframe+empty_moov");
  for (const char* file : {"no_list.mp4", "fragments.mp4"}) {
    const ContainerTiming timing = timing_of(file);
    EXPECT_EQ(timing.audio_priming.us, 0) << file;
    EXPECT_EQ(timing.edit_list, false) << file;
    EXPECT_EQ(shift_ms(file), 0) << file;
    EXPECT_NEAR(offset_ms(file), careless_offset_ms(file), 1) << file;
  }
}

TEST_F(ContainerTimingTest, PrimingInMatroska) {
  make("aac.mkv", "-c:v mpeg4 -q:v 2 -c:a aac -b:a 128k");
  EXPECT_NEAR(offset_ms("aac.mkv"), 0, 1);
  EXPECT_NEAR(shift_ms("aac.mkv"), -1024 / 48.0, 1);
}

TEST_F(ContainerTimingTest, AnEmptyEditIsAStartTime) {
  make("late.mov", "-itsoffset 0.2 -i base.mkv -map 0:v -map 1:a -c:v mpeg4 -q:v 2 -c:a pcm_s16le");
  EXPECT_EQ(timing_of("late.mov").edit_list, true);
  EXPECT_NEAR(shift_ms("late.mov"), 200, 1);
  EXPECT_NEAR(offset_ms("late.mov"), -200, 1);
  EXPECT_NEAR(careless_offset_ms("late.mov"), 0, 1);
}

// The edit list only takes back the delay of the reordering.
TEST_F(ContainerTimingTest, ReorderedPictures) {
  make("reordered.mov", "-c:v mpeg4 -q:v 2 -bf 2 -c:a pcm_s16le");
  EXPECT_EQ(timing_of("reordered.mov").edit_list, true);
  EXPECT_NEAR(shift_ms("reordered.mov"), 0, 1);
  EXPECT_NEAR(offset_ms("reordered.mov"), 0, 1);
  EXPECT_NEAR(careless_offset_ms("reordered.mov"), 0, 1);
}

// Cut without encoding anew: the pictures from the key frame on are stored, but hidden.
TEST_F(ContainerTimingTest, ACutThatHidesPictures) {
  for (const std::string pictures : {"-bf 0 ", "-bf 2 "}) {
    SCOPED_TRACE(pictures);
    make("whole.mov",
         "-c:v mpeg4 -q:v 2 -g 100 -sc_threshold 1000000000 " + pictures + "-c:a pcm_s16le");
    ASSERT_TRUE(dir_.ffmpeg("-ss 1.28 -i whole.mov -c:v copy -c:a pcm_s16le cut.mov"));
    EXPECT_EQ(timing_of("cut.mov").edit_list, true);
    EXPECT_NEAR(timing_of("cut.mov").first_stored_picture->seconds(), -1.28, 0.001);
    EXPECT_EQ(timing_of("cut.mov").first_stored_sample->us, 0);
    EXPECT_NEAR(offset_ms("cut.mov"), 0, 1);
    EXPECT_NEAR(careless_offset_ms("cut.mov"), 1280, 1);
    EXPECT_NEAR(shift_ms("cut.mov"), 1280, 1);
  }
}

// Makes the edit list of the first track begin `ticks` of the media later.
void cut_first_track(const std::filesystem::path& path, std::uint32_t ticks) {
  std::vector<std::uint8_t> bytes = read_file(path);
  const std::string name = "elst";
  const auto at = std::search(bytes.begin(), bytes.end(), name.begin(), name.end());
  ASSERT_NE(at, bytes.end());
  const auto field = at + 4 + 4 + 4 + 4;  // name, version and flags, count, duration
  std::uint32_t time = 0;
  for (int i = 0; i < 4; ++i) time = time << 8 | field[i];
  time += ticks;
  for (int i = 3; i >= 0; --i, time >>= 8) field[i] = static_cast<std::uint8_t>(time);
  write_file(path, bytes);
}

// An editor hid more than a group of pictures: the demuxer does not even hand these out.
TEST_F(ContainerTimingTest, ACutThatHidesKeyFrames) {
  make("deep.mov", "-c:v mpeg4 -q:v 2 -bf 2 -g 10 -c:a pcm_s16le -video_track_timescale 12800");
  cut_first_track(dir_ / "deep.mov", 12800);
  const ContainerTiming timing = timing_of("deep.mov");
  EXPECT_EQ(timing.edit_list, true);
  EXPECT_NEAR(timing.first_stored_picture->seconds(), -1, 0.001);
  EXPECT_NEAR(offset_ms("deep.mov"), -1000, 1);  // the picture comes a second early
  EXPECT_NEAR(careless_offset_ms("deep.mov"), 0, 1);
  EXPECT_NEAR(shift_ms("deep.mov"), 1000, 1);
}

// FFmpeg by itself makes the first picture after such a cut the beginning, up to 40 ms early.
TEST_F(ContainerTimingTest, ACutBetweenTwoPictures) {
  for (const std::string pictures : {"-bf 0 ", "-bf 2 "}) {
    for (const char* const cut : {"1.281", "1.3", "1.319"}) {
      SCOPED_TRACE(pictures + cut);
      make("whole.mov", "-c:v mpeg4 -q:v 2 -g 10 " + pictures + "-c:a pcm_s16le");
      ASSERT_TRUE(dir_.ffmpeg("-ss " + std::string(cut) +
                              " -i whole.mov -c:v copy -c:a pcm_s16le cut.mov"));
      EXPECT_NEAR(offset_ms("cut.mov"), 0, 1.5);  // the muxer rounds to whole ms
      const MediaReader reader(MediaSource::from_path(dir_ / "cut.mov"));
      EXPECT_NEAR(reader.info().streams.at(0).start->seconds(), 1.32 - std::stod(cut), 0.0015);
    }
  }
}

TEST_F(ContainerTimingTest, ACutBetweenTwoPicturesThatHidesKeyFrames) {
  make("deep.mov", "-c:v mpeg4 -q:v 2 -bf 2 -g 10 -c:a pcm_s16le -video_track_timescale 12800");
  cut_first_track(dir_ / "deep.mov", 12800 + 128);
  EXPECT_NEAR(offset_ms("deep.mov"), -1010, 1);
  MediaReader::Options part;  // after a seek as well
  part.start = MediaDuration::from_ms(1500);
  const Decoded late = decode(dir_ / "deep.mov", part);
  EXPECT_NEAR(late.frames.at(0).time.seconds(), 1.51, 0.001);
}

TEST_F(ContainerTimingTest, SourcesOfAllKinds) {
  // A third stream that begins late lets FFmpeg read far to know it.
  make("late.mov",
       "-itsoffset 0.2 -i base.mkv -itsoffset 3 -i base.mkv -map 0:v -map 1:a -map 2:a -c:v mpeg4 "
       "-c:a:0 pcm_f32le -c:a:1 aac -movflags +faststart");
  const std::vector<std::uint8_t> file = read_file(dir_ / "late.mov");
  ASSERT_GT(file.size(), 500000U);
  std::size_t at = 0;
  const auto read = [&](std::span<std::byte> buffer) {
    const std::size_t count = std::min({buffer.size(), file.size() - at, std::size_t{777}});
    std::memcpy(buffer.data(), file.data() + at, count);
    at += count;
    return count;
  };
  const auto seek = [&](std::int64_t offset) { at = static_cast<std::size_t>(offset); };
  const Decoded reference = decode(dir_ / "late.mov");
  EXPECT_EQ(reference.samples().size(), 64000U);
  const Decoded seeking = decode(MediaSource::from_callback(read, seek));
  EXPECT_EQ(seeking.info.timing.edit_list, true);
  EXPECT_NEAR(seeking.info.timing.shift_if_ignored()->ms(), 200, 1);
  EXPECT_EQ(seeking.samples(), reference.samples());
  EXPECT_EQ(seeking.frames.size(), reference.frames.size());
  at = 0;
  const Decoded piped = decode(MediaSource::from_callback(read));
  EXPECT_EQ(piped.info.timing.edit_list, std::nullopt);
  EXPECT_EQ(piped.info.timing.shift_if_ignored(), std::nullopt);
  EXPECT_EQ(piped.samples(), reference.samples());
  make("sound.m4a", "-vn -c:a aac");
  EXPECT_EQ(timing_of("sound.m4a").first_stored_picture, std::nullopt);
  EXPECT_EQ(timing_of("sound.m4a").shift_if_ignored(), std::nullopt);
  EXPECT_EQ(timing_of("sound.m4a").edit_list, true);
}

}  // namespace
}  // namespace av_fusion
