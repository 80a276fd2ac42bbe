// Copyright 2026 The av_fusion authors. SPDX-License-Identifier: Apache-2.0
#include "av_fusion/media/media_reader.h"

#include <algorithm>
#include <cstring>
#include <memory>

#include "av_fusion/media/ffmpeg_log.h"
#include "media_test_util.h"

namespace av_fusion {
namespace {

namespace fs = std::filesystem;

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

// 4 s of moving picture (key frame every half second) and of clicks.
class MediaReaderTest : public testing::Test {
 protected:
  void SetUp() override {
    REQUIRE_FFMPEG_COMMAND();
    set_ffmpeg_log_sink({});
    write_floats(dir_ / "sound.raw", clicks({0.5, 1.7, 3.3}, 4, 48000));
    make("talk.mp4", "-c:v mpeg4 -bf 2 -g 13 -c:a aac -movflags +faststart");
  }

  void make(const std::string& name, const std::string& codecs) {
    ASSERT_TRUE(
        dir_.ffmpeg("-f lavfi -i testsrc2=s=64x48:r=25:d=4 -f f32le -ar 48000 -ac 1 "
                    "-i sound.raw " +
                    codecs + " " + name));
  }

  std::string open_error(const std::string& name, const MediaReader::Options& options = {}) {
    return error_of([&] { MediaReader(MediaSource::from_path(dir_ / name), options); });
  }

  TempDir dir_;
};

void expect_same(const Decoded& a, const Decoded& b) {
  ASSERT_EQ(a.frames.size(), b.frames.size());
  for (std::size_t i = 0; i < a.frames.size(); ++i) {
    ASSERT_EQ(a.frames[i].time, b.frames[i].time);
    ASSERT_TRUE(std::ranges::equal(a.frames[i].luma.elements(), b.frames[i].luma.elements()));
  }
  ASSERT_EQ(a.samples(), b.samples());
  ASSERT_EQ(a.stats.first_sample, b.stats.first_sample);
}

// ---- Errors

TEST_F(MediaReaderTest, MissingFile) {
  EXPECT_EQ(open_error("nothing.mp4"),
            "not_found | " + (dir_ / "nothing.mp4").string() + ": no such file");
}

TEST_F(MediaReaderTest, EmptyFile) {
  write_file(dir_ / "empty.mp4", {});
  EXPECT_EQ(open_error("empty.mp4"),
            "corrupt_data | " + (dir_ / "empty.mp4").string() + ": the file is empty");
}

TEST_F(MediaReaderTest, TextFile) {
  write_file(dir_ / "text.mp4", {'h', 'e', 'l', 'l', 'o', '\n'});
  const std::string error = open_error("text.mp4");
  EXPECT_EQ(error.find("corrupt_data | "), 0U) << error;
  EXPECT_TRUE(contains(error, "text.mp4: cannot be opened: not a media file that FFmpeg knows"));
}

TEST_F(MediaReaderTest, Folder) {
  const std::string error = error_of([&] { MediaReader(MediaSource::from_path(dir_.path())); });
  EXPECT_EQ(error, "io | " + dir_.path().string() + ": is a folder, not a media file");
}

TEST_F(MediaReaderTest, PlaylistsAreNotFollowed) {
  const std::string talk = (dir_ / "talk.mp4").string();
  const std::string hls = "#EXTM3U\n#EXT-X-VERSION:3\n#EXT-X-TARGETDURATION:4\n#EXTINF:4.0,\n" +
                          talk + "\n#EXT-X-ENDLIST\n";
  const std::string concat = "ffconcat version 1.0\nfile " + talk + "\n";
  write_file(dir_ / "concat.mp4", {concat.begin(), concat.end()});
  const std::string error = open_error("concat.mp4");
  EXPECT_EQ(error.find("unsupported | "), 0U) << error;
  EXPECT_TRUE(contains(error, "it is a playlist")) << error;
  // FFmpeg 5 takes this for a playlist, FFmpeg 7, which is not told the name, for nothing it knows.
  write_file(dir_ / "hls.m3u8", {hls.begin(), hls.end()});
  EXPECT_THROW(MediaReader(MediaSource::from_path(dir_ / "hls.m3u8")), Error);
}

TEST_F(MediaReaderTest, NamesAreNeverProtocols) {
  const std::string name = "concat:" + (dir_ / "talk.mp4").string();
  const std::string error = error_of([&] { MediaReader(MediaSource::from_path(name)); });
  EXPECT_EQ(error, "not_found | " + name + ": no such file");
}

TEST_F(MediaReaderTest, OddNamesWork) {
  for (const std::string name : {"with space.mp4", "quote'\";$(x).mp4", "-dash.mp4", "pct_%03d.mp4",
                                 "colon:name.mp4", "\u00fcn\u00ef\u2013\u65e5\u672c.mp4"}) {
    fs::copy_file(dir_ / "talk.mp4", dir_ / name);
    EXPECT_EQ(decode(dir_ / name).frames.size(), 100U) << name;
  }
}

TEST_F(MediaReaderTest, WrongStreamNumbersAreListed) {
  MediaReader::Options options;
  options.audio_stream = 7;
  std::string error = open_error("talk.mp4", options);
  EXPECT_EQ(error.find("not_found | "), 0U);
  EXPECT_TRUE(contains(error, "stream 7 does not exist; audio streams are: 1 (aac")) << error;
  options.audio_stream = 0;
  error = open_error("talk.mp4", options);
  EXPECT_TRUE(contains(error, "stream 0 is not audio; audio streams are: 1 (aac")) << error;
  options.audio_stream.reset();
  options.video_stream = -1;
  error = open_error("talk.mp4", options);
  EXPECT_TRUE(contains(error, "stream -1 does not exist; video streams are: 0 (mpeg4")) << error;
}

TEST_F(MediaReaderTest, OptionsOutOfRange) {
  MediaReader::Options options;
  options.start = MediaDuration{-1};
  EXPECT_EQ(open_error("talk.mp4", options).find("invalid_argument | "), 0U);
  options = {};
  options.decoder_threads = 0;
  EXPECT_EQ(open_error("talk.mp4", options).find("invalid_argument | "), 0U);
}

// ---- Damage

TEST_F(MediaReaderTest, TruncatedFileIsReadToItsEnd) {
  std::vector<std::uint8_t> bytes = read_file(dir_ / "talk.mp4");
  bytes.resize(bytes.size() * 6 / 10);
  write_file(dir_ / "cut.mp4", bytes);
  const Decoded decoded = decode(dir_ / "cut.mp4");
  EXPECT_TRUE(decoded.stats.truncated);
  EXPECT_GT(decoded.frames.size(), 40U);
  EXPECT_LT(decoded.frames.size(), 80U);
  EXPECT_FALSE(decode(dir_ / "talk.mp4").stats.truncated);
}

TEST_F(MediaReaderTest, TruncatedMatroskaAndTransportStream) {
  for (const std::string name : {"talk.mkv", "talk.ts"}) {
    make(name, "-c:v mpeg2video -c:a mp2");
    EXPECT_FALSE(decode(dir_ / name).stats.truncated) << name;
    std::vector<std::uint8_t> bytes = read_file(dir_ / name);
    bytes.resize(bytes.size() * 6 / 10 / 188 * 188 + 100);  // inside a packet
    write_file(dir_ / name, bytes);
    EXPECT_TRUE(decode(dir_ / name).stats.truncated) << name;
  }
}

TEST_F(MediaReaderTest, MissingIndexIsAClearError) {
  ASSERT_TRUE(dir_.ffmpeg("-i talk.mp4 -c copy plain.mp4"));
  std::vector<std::uint8_t> bytes = read_file(dir_ / "plain.mp4");
  bytes.resize(bytes.size() * 6 / 10);
  write_file(dir_ / "cut.mp4", bytes);
  const std::string error = open_error("cut.mp4");
  EXPECT_EQ(error.find("corrupt_data | "), 0U) << error;
  EXPECT_TRUE(contains(error, "cut.mp4: cannot be opened: Invalid data")) << error;
}

TEST_F(MediaReaderTest, DamageInTheMiddleIsSkippedAndCounted) {
  make("talk.ts", "-c:v mpeg2video -g 10 -c:a mp2");
  std::vector<std::uint8_t> bytes = read_file(dir_ / "talk.ts");
  for (std::size_t i = bytes.size() * 4 / 10; i < bytes.size() * 5 / 10; ++i) bytes[i] = 0xFF;
  write_file(dir_ / "talk.ts", bytes);
  const Decoded decoded = decode(dir_ / "talk.ts");
  EXPECT_GT(decoded.frames.size(), 60U);
  EXPECT_GE(decoded.stats.audio_gaps, 1);
  const double first_s = decoded.frames.front().time.seconds();
  EXPECT_NEAR(find_click(decoded.clips, first_s + 3.3) - first_s, 3.3, 0.0005);
}

// ---- Choice of streams

TEST_F(MediaReaderTest, CoverArtIsNotAVideo) {
  ASSERT_TRUE(dir_.ffmpeg("-f lavfi -i color=red:s=640x480:d=1 -frames:v 1 cover.jpg"));
  ASSERT_TRUE(
      dir_.ffmpeg("-i talk.mp4 -i cover.jpg -map 0 -map 1 -c copy "
                  "-disposition:v:1 attached_pic cover.mp4"));
  ASSERT_TRUE(
      dir_.ffmpeg("-i cover.jpg -i talk.mp4 -map 0 -map 1 -c copy -disposition:v:0 0 "
                  "still_first.mkv"));
  ASSERT_TRUE(dir_.ffmpeg("-i talk.mp4 -i cover.jpg -map 0:a -map 1 -c:a mp2 -c:v copy still.mkv"));
  const Decoded cover = decode(dir_ / "cover.mp4");
  EXPECT_EQ(cover.info.video, 0);
  EXPECT_EQ(cover.frames.size(), 100U);
  const Decoded still_first = decode(dir_ / "still_first.mkv");
  EXPECT_EQ(still_first.info.video, 1);
  EXPECT_TRUE(still_first.info.streams[0].is_still);
  EXPECT_EQ(still_first.frames.size(), 100U);
  const Decoded still = decode(dir_ / "still.mkv");
  EXPECT_FALSE(still.info.video.has_value());
  EXPECT_TRUE(still.info.audio.has_value());
  EXPECT_GT(still.stats.samples, 60000);
  const Decoded picture = decode(dir_ / "cover.jpg");
  EXPECT_FALSE(picture.info.video.has_value());
  EXPECT_FALSE(picture.info.audio.has_value());
  EXPECT_TRUE(picture.frames.empty());
}

TEST_F(MediaReaderTest, MotionJpegIsAVideo) {
  make("talk.avi", "-c:v mjpeg -c:a pcm_s16le");
  const Decoded decoded = decode(dir_ / "talk.avi");
  EXPECT_EQ(decoded.info.video, 0);
  EXPECT_EQ(decoded.frames.size(), 100U);
}

TEST_F(MediaReaderTest, OneKindCanBeLeftOut) {
  MediaReader::Options options;
  options.decode_video = false;
  const Decoded sound = decode(dir_ / "talk.mp4", options);
  EXPECT_TRUE(sound.frames.empty());
  EXPECT_EQ(sound.info.video, 0);
  EXPECT_GE(sound.stats.samples, 4 * 16000);
  options.decode_video = true;
  options.decode_audio = false;
  const Decoded pictures = decode(dir_ / "talk.mp4", options);
  EXPECT_TRUE(pictures.clips.empty());
  EXPECT_EQ(pictures.frames.size(), 100U);
}

TEST_F(MediaReaderTest, DescribesTheStreams) {
  MediaReader reader(MediaSource::from_path(dir_ / "talk.mp4"));
  const MediaInfo& info = reader.info();
  EXPECT_TRUE(contains(info.container, "mp4"));
  EXPECT_NEAR(info.duration->seconds(), 4, 0.1);
  ASSERT_EQ(info.streams.size(), 2U);
  EXPECT_EQ(info.streams[0].kind, StreamInfo::Kind::kVideo);
  EXPECT_EQ(info.streams[0].codec, "mpeg4");
  EXPECT_EQ(info.streams[0].display_width, 64);
  EXPECT_EQ(info.streams[1].kind, StreamInfo::Kind::kAudio);
  EXPECT_EQ(info.streams[1].sample_rate_hz, 48000);
  EXPECT_EQ(info.streams[1].layout, "mono");
}

// ---- Parts

class PartTest : public MediaReaderTest, public testing::WithParamInterface<const char*> {};

TEST_P(PartTest, StartAndDurationAreExact) {
  if (std::strcmp(GetParam(), "talk.mkv") == 0) make(GetParam(), "-c:v mpeg4 -g 13 -c:a pcm_s16le");
  if (std::strcmp(GetParam(), "talk.ts") == 0) make(GetParam(), "-c:v mpeg2video -g 13 -c:a mp2");
  if (std::strcmp(GetParam(), "talk.avi") == 0) make(GetParam(), "-c:v mjpeg -c:a pcm_s16le");
  const Decoded whole = decode(dir_ / GetParam());
  for (const double start_s : {0.0, 0.03, 1.48, 2.5, 3.9}) {
    MediaReader::Options options;
    options.start = MediaDuration::from_seconds(start_s);
    options.duration = MediaDuration::from_seconds(0.9);
    const Decoded part = decode(dir_ / GetParam(), options);
    EXPECT_EQ(part.origin, whole.origin);
    const MediaTime begin = whole.origin + *options.start;
    const MediaTime end = begin + *options.duration;
    std::vector<const VideoFrame*> expected;
    for (const VideoFrame& frame : whole.frames) {
      if (frame.time >= begin && frame.time < end) expected.push_back(&frame);
    }
    ASSERT_EQ(part.frames.size(), expected.size()) << start_s;
    for (std::size_t i = 0; i < expected.size(); ++i) {
      EXPECT_EQ(part.frames[i].time, expected[i]->time);
      EXPECT_TRUE(std::ranges::equal(part.frames[i].luma.elements(), expected[i]->luma.elements()));
    }
    ASSERT_TRUE(part.stats.first_sample.has_value()) << start_s;
    EXPECT_NEAR(part.stats.first_sample->seconds(),
                std::max(begin, *whole.stats.first_sample).seconds(), 0.0001);
    EXPECT_NEAR(part.stats.end_of_sound->seconds(),
                std::min(end, *whole.stats.end_of_sound).seconds(), 0.0006);
    for (const double click_s : {0.5, 1.7, 3.3}) {
      const double at = find_click(whole.clips, whole.frames[0].time.seconds() + click_s);
      if (at < begin.seconds() + 0.01 || at > end.seconds() - 0.01) continue;
      EXPECT_NEAR(find_click(part.clips, at), at, 0.0006) << start_s;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, PartTest,
                         testing::Values("talk.mp4", "talk.mkv", "talk.ts", "talk.avi"));

// ---- Sources

TEST_F(MediaReaderTest, BytesAndCallbacksGiveTheSameAsAPath) {
  make("talk.mkv", "-c:v mpeg4 -c:a pcm_s16le");
  for (const std::string name : {"talk.mp4", "talk.mkv"}) {
    const Decoded reference = decode(dir_ / name);
    ASSERT_EQ(reference.frames.size(), 100U);
    const std::vector<std::uint8_t> file = read_file(dir_ / name);
    const auto* data = reinterpret_cast<const std::byte*>(file.data());
    const std::span<const std::byte> bytes(data, file.size());
    expect_same(reference, decode(MediaSource::from_bytes(bytes)));
    expect_same(reference,
                decode(MediaSource::from_bytes(
                    std::make_shared<const std::vector<std::byte>>(bytes.begin(), bytes.end()))));
    std::size_t at = 0;
    const auto read = [&](std::span<std::byte> buffer) {
      const std::size_t count = std::min({buffer.size(), bytes.size() - at, std::size_t{777}});
      std::copy_n(bytes.begin() + static_cast<std::ptrdiff_t>(at), count, buffer.begin());
      at += count;
      return count;
    };
    const auto seek = [&](std::int64_t offset) { at = static_cast<std::size_t>(offset); };
    expect_same(reference, decode(MediaSource::from_callback(read, seek)));
    at = 0;  // front to back, as from a pipe
    expect_same(reference, decode(MediaSource::from_callback(read)));
  }
}

TEST_F(MediaReaderTest, ErrorsOfACallbackReachTheCaller) {
  const auto failing = [](std::span<std::byte>) -> std::size_t {
    throw Error(ErrorCode::kIo, "tape", "torn");
  };
  EXPECT_EQ(error_of([&] { MediaReader(MediaSource::from_callback(failing)); }), "io | tape: torn");
  const std::vector<std::uint8_t> file = read_file(dir_ / "talk.mp4");
  std::size_t at = 0;
  const auto breaks_off = [&](std::span<std::byte> buffer) {
    if (at > file.size() / 2) throw Error(ErrorCode::kIo, "tape", "torn");
    const std::size_t count = std::min(buffer.size(), std::size_t{500});
    std::memcpy(buffer.data(), file.data() + at, count);
    at += count;
    return count;
  };
  EXPECT_EQ(error_of([&] { decode(MediaSource::from_callback(breaks_off)); }), "io | tape: torn");
  EXPECT_EQ(error_of([] { MediaSource::from_callback({}); }),
            "invalid_argument | stream: the read callback is empty");
}

TEST_F(MediaReaderTest, MovesAndDecodesWithThreads) {
  MediaReader::Options options;
  options.decoder_threads = 3;
  MediaReader first(MediaSource::from_path(dir_ / "talk.mp4"), options);
  ASSERT_TRUE(first.next().has_value());
  MediaReader second(std::move(first));
  std::int64_t events = 1;
  while (second.next()) ++events;
  EXPECT_FALSE(second.next().has_value());
  EXPECT_EQ(second.stats().pictures, 100);
  EXPECT_EQ(second.stats().pictures + second.stats().audio_clips, events);
}

TEST_F(MediaReaderTest, FfmpegLogGoesToTheSink) {
  std::string log;
  set_ffmpeg_log_sink([&](LogLevel, std::string_view text) { log += text; });
  std::vector<std::uint8_t> bytes = read_file(dir_ / "talk.mp4");
  bytes.resize(bytes.size() * 6 / 10);
  write_file(dir_ / "cut.mp4", bytes);
  testing::internal::CaptureStderr();
  decode(dir_ / "cut.mp4");
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
  EXPECT_TRUE(contains(log, "partial file")) << log;
  set_ffmpeg_log_sink({});
}

}  // namespace
}  // namespace av_fusion
