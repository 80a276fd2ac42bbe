// Copyright 2026 The av_fusion authors. SPDX-License-Identifier: Apache-2.0
extern "C" {
#include <libavutil/display.h>
}

#include <algorithm>
#include <array>
#include <cmath>
#include <ostream>

#include "av_fusion/media/picture_geometry_internal.h"
#include "media_test_util.h"

namespace av_fusion {
namespace {

std::string raw_video(const std::string& format, int width, int height,
                      const std::string& file = "video.raw") {
  return "-f rawvideo -pix_fmt " + format + " -r 25 -s " + std::to_string(width) + "x" +
         std::to_string(height) + " -i " + file + " ";
}

// ---- Times

void expect_times(const Decoded& decoded, std::size_t count, std::int64_t us_num,
                  std::int64_t us_den, std::int64_t tolerance_us) {
  ASSERT_EQ(decoded.frames.size(), count);
  for (std::size_t i = 0; i < count; ++i) {
    const auto exact =
        static_cast<double>(i) * static_cast<double>(us_num) / static_cast<double>(us_den);
    ASSERT_NEAR(static_cast<double>(decoded.frames[i].time.us), exact,
                static_cast<double>(tolerance_us) + 0.501)
        << i;
  }
}

TEST(PictureTimeTest, Exact25And2997) {
  REQUIRE_FFMPEG_COMMAND();
  const TempDir dir;
  ASSERT_TRUE(dir.ffmpeg("-f lavfi -i testsrc2=s=64x48:r=25:d=4 -c:v mpeg4 -bf 2 a.mp4"));
  ASSERT_TRUE(dir.ffmpeg("-f lavfi -i testsrc2=s=64x48:r=30000/1001:d=4 -c:v mpeg4 -bf 2 b.mp4"));
  ASSERT_TRUE(dir.ffmpeg("-f lavfi -i testsrc2=s=64x48:r=30000/1001:d=4 -c:v mpeg4 b.mkv"));
  const Decoded a = decode(dir / "a.mp4");
  expect_times(a, 100, 40000, 1, 0);
  EXPECT_EQ(a.info.streams[0].average_fps, 25);
  const Decoded b = decode(dir / "b.mp4");
  expect_times(b, 120, 1001000000, 30000, 0);
  EXPECT_NEAR(b.info.streams[0].average_fps, 29.97003, 1e-4);
  const Decoded c = decode(dir / "b.mkv");
  expect_times(c, 120, 1001000000, 30000, 500);  // Matroska holds whole milliseconds
  for (const Decoded* decoded : {&a, &b, &c}) {
    EXPECT_FALSE(decoded->stats.variable_rate);
    EXPECT_EQ(decoded->stats.dropped_pictures, 0);
    EXPECT_EQ(decoded->stats.pictures, static_cast<std::int64_t>(decoded->frames.size()));
  }
}

TEST(PictureTest, DraftsOfLargePicturesDoNotDrift) {
  REQUIRE_FFMPEG_COMMAND();
  const TempDir dir;
  for (const bool is_large : {true, false}) {
    SCOPED_TRACE(is_large);
    ASSERT_TRUE(dir.ffmpeg(std::string("-y -f lavfi -i testsrc2=s=") +
                           (is_large ? "1280x720" : "1278x720") +
                           ":r=25:d=2,noise=alls=20:allf=t -c:v libx264 -preset veryfast -qp 38 "
                           "-bf 2 -g 100 -pix_fmt yuv420p a.mp4"));
    MediaReader::Options options;
    const Decoded full = decode(dir / "a.mp4", options);
    options.draft_pictures = true;
    const Decoded draft = decode(dir / "a.mp4", options);
    ASSERT_EQ(draft.frames.size(), full.frames.size());
    int same = 0;
    double largest = 0;
    for (std::size_t i = 0; i < full.frames.size(); ++i) {
      EXPECT_EQ(draft.frames[i].time, full.frames[i].time);
      const auto a = full.frames[i].luma.elements(), b = draft.frames[i].luma.elements();
      double sum = 0;
      for (std::size_t k = 0; k < a.size(); ++k) sum += std::abs(int{a[k]} - int{b[k]});
      largest = std::max(largest, sum / static_cast<double>(a.size()));
      same += sum == 0 ? 1 : 0;
    }
    const int all = static_cast<int>(full.frames.size());
    EXPECT_EQ(same == all, !is_large) << same;
    EXPECT_GT(same, all / 3) << "pictures that others are made from stay what they are";
    EXPECT_LT(largest, 3);
  }
}

TEST(PictureTimeTest, VariableRate) {
  REQUIRE_FFMPEG_COMMAND();
  const TempDir dir;
  const std::string select = "-vf \"select='if(lt(n,30),1,not(mod(n,3)))'\" -c:v mpeg4 ";
  const std::string source = "-f lavfi -i testsrc2=s=64x48:r=30:d=3 " + select;
  ASSERT_TRUE(dir.ffmpeg(source + "-vsync vfr a.mp4") ||
              dir.ffmpeg(source + "-fps_mode vfr a.mp4"));
  const Decoded decoded = decode(dir / "a.mp4");
  std::vector<int> kept;
  for (int n = 0; n < 90; ++n) {
    if (n < 30 || n % 3 == 0) kept.push_back(n);
  }
  ASSERT_EQ(decoded.frames.size(), kept.size());
  for (std::size_t i = 0; i < kept.size(); ++i) {
    EXPECT_NEAR(static_cast<double>(decoded.frames[i].time.us), kept[i] * 1e6 / 30, 0.51);
  }
  EXPECT_TRUE(decoded.stats.variable_rate);
}

TEST(PictureTimeTest, VideoMayStartLate) {
  REQUIRE_FFMPEG_COMMAND();
  const TempDir dir;
  ASSERT_TRUE(
      dir.ffmpeg("-itsoffset 0.48 -f lavfi -i testsrc2=s=64x48:r=25:d=1 "
                 "-f lavfi -i sine=r=48000:d=2 -c:v mpeg4 -c:a pcm_s16le a.mkv"));
  const Decoded decoded = decode(dir / "a.mkv");
  EXPECT_EQ(decoded.origin.us, 0);
  EXPECT_EQ(decoded.frames.front().time.us, 480000);
  EXPECT_EQ(decoded.stats.first_sample->us, 0);
}

// ---- Orientation

TEST(OrientationTest, FollowsTheDisplayMatrix) {
  EXPECT_TRUE(orientation_of(nullptr).is_identity());
  std::array<std::int32_t, 9> matrix;
  for (const int degrees : {0, 90, 180, 270}) {
    av_display_rotation_set(matrix.data(), degrees);  // clockwise, says FFmpeg
    EXPECT_EQ(orientation_of(matrix.data()).clockwise_deg(), degrees);
    EXPECT_FALSE(orientation_of(matrix.data()).mirrored());
    av_display_matrix_flip(matrix.data(), 1, 0);
    EXPECT_TRUE(orientation_of(matrix.data()).mirrored()) << degrees;
  }
}

// Where a stored point goes by the definition of the display matrix, against what the pixels do.
TEST(OrientationTest, MirrorThenTurnIsTheSameAsTheMatrix) {
  for (const bool transpose : {false, true}) {
    for (const bool flip_x : {false, true}) {
      for (const bool flip_y : {false, true}) {
        const Orientation orientation{transpose, flip_x, flip_y};
        // The vector one to the right, moved by the orientation ...
        double x = transpose ? 0 : (flip_x ? -1 : 1);
        double y = transpose ? (flip_y ? -1 : 1) : 0;
        // ... and by a mirror and a clockwise turn (y points down).
        const double angle = orientation.clockwise_deg() * M_PI / 180;
        const double mirrored = orientation.mirrored() ? -1 : 1;
        EXPECT_NEAR(x, mirrored * std::cos(angle), 1e-9);
        EXPECT_NEAR(y, mirrored * std::sin(angle), 1e-9);
        // The vector one down.
        x = transpose ? (flip_x ? -1 : 1) : 0;
        y = transpose ? 0 : (flip_y ? -1 : 1);
        EXPECT_NEAR(x, -std::sin(angle), 1e-9);
        EXPECT_NEAR(y, std::cos(angle), 1e-9);
      }
    }
  }
}

// The reader against the picture that the ffmpeg command shows after its own rotation.
class RotationTest : public testing::TestWithParam<int> {};

TEST_P(RotationTest, PictureIsUpright) {
  REQUIRE_FFMPEG_COMMAND();
  const TempDir dir;
  const std::string degrees = std::to_string(GetParam());
  ASSERT_TRUE(dir.ffmpeg("-f lavfi -i testsrc=s=64x48:r=25:d=0.2 -c:v mpeg4 -q:v 2 flat.mov"));
  ASSERT_TRUE(dir.ffmpeg("-display_rotation " + degrees + " -i flat.mov -c copy turned.mov") ||
              dir.ffmpeg("-i flat.mov -c copy -metadata:s:v:0 rotate=" + degrees + " turned.mov"));
  ASSERT_TRUE(dir.ffmpeg("-i turned.mov -frames:v 1 -pix_fmt yuv420p -f rawvideo shown.raw"));
  const Decoded decoded = decode(dir / "turned.mov");
  const StreamInfo& info = decoded.info.streams[0];
  EXPECT_EQ(info.rotation_deg % 180, GetParam() % 180);
  EXPECT_NE(info.rotation_deg, 0);
  const bool upended = GetParam() != 180;
  const auto& luma = decoded.frames.front().luma;
  ASSERT_EQ(luma.dim(0), upended ? 64 : 48);
  ASSERT_EQ(luma.dim(1), upended ? 48 : 64);
  EXPECT_EQ(info.display_height, luma.dim(0));
  EXPECT_EQ(info.display_width, luma.dim(1));
  const std::vector<std::uint8_t> shown = read_file(dir / "shown.raw");
  ASSERT_GE(shown.size(), 64U * 48);
  for (std::size_t i = 0; i < 64 * 48; ++i) {
    const double expected = std::clamp((shown[i] - 16) * 255 / 219.0, 0.0, 255.0);
    ASSERT_NEAR(luma.data()[i], expected, 0.51) << i;
  }
}

INSTANTIATE_TEST_SUITE_P(All, RotationTest, testing::Values(90, 180, 270));

// ---- Size and pixels

TEST(PictureTest, AnamorphicPictureGetsSquarePixels) {
  REQUIRE_FFMPEG_COMMAND();
  const TempDir dir;
  std::vector<std::uint8_t> half(120 * 90, 0);  // black left of x = 60, white right of it
  for (std::size_t i = 0; i < half.size(); ++i) half[i] = i % 120 < 60 ? 0 : 255;
  write_file(dir / "video.raw", half);
  ASSERT_TRUE(dir.ffmpeg(raw_video("gray", 120, 90) + "-vf setsar=4/3 -c:v ffv1 wide.mkv"));
  ASSERT_TRUE(dir.ffmpeg(raw_video("gray", 120, 90) + "-vf setsar=3/4 -c:v ffv1 tall.mkv"));
  const Decoded wide = decode(dir / "wide.mkv");
  EXPECT_EQ(wide.info.streams[0].coded_width, 120);
  EXPECT_EQ(wide.info.streams[0].display_width, 160);
  const auto& luma = wide.frames.front().luma;
  ASSERT_EQ(luma.shape(), (Shape{90, 160}));
  EXPECT_EQ(luma.view()(45, 76), 0);
  EXPECT_EQ(luma.view()(45, 83), 255);
  EXPECT_EQ(decode(dir / "tall.mkv").frames.front().luma.shape(), (Shape{120, 120}));
}

// The luma of raw pictures of one grey level or colour, through a container that keeps pixels.
struct PixelCase {
  const char* format;
  std::vector<std::uint8_t> pixels;  // of a picture of `width` x 2
  int width;
  double expected;
  double tolerance;
};

void PrintTo(const PixelCase& pixel, std::ostream* out) {
  *out << pixel.format << ", expects " << pixel.expected;
}

class PixelTest : public testing::TestWithParam<PixelCase> {};

TEST_P(PixelTest, BecomesFullRangeLuma) {
  REQUIRE_FFMPEG_COMMAND();
  const PixelCase& pixel = GetParam();
  const TempDir dir;
  write_file(dir / "video.raw", pixel.pixels);
  ASSERT_TRUE(dir.ffmpeg(raw_video(pixel.format, pixel.width, 2) + "-c:v copy a.nut"));
  const Decoded decoded = decode(dir / "a.nut");
  ASSERT_EQ(decoded.frames.size(), 1U);
  const auto& luma = decoded.frames[0].luma;
  ASSERT_EQ(luma.shape(), (Shape{2, pixel.width}));
  for (const std::uint8_t value : luma.elements()) {
    EXPECT_NEAR(value, pixel.expected, pixel.tolerance);
  }
}

std::vector<std::uint8_t> repeat(std::vector<std::uint8_t> unit, int times) {
  std::vector<std::uint8_t> all;
  for (int i = 0; i < times; ++i) all.insert(all.end(), unit.begin(), unit.end());
  return all;
}

std::vector<std::uint8_t> planes(std::uint8_t y, int luma, int chroma) {
  std::vector<std::uint8_t> all(static_cast<std::size_t>(luma), y);
  all.resize(static_cast<std::size_t>(luma + chroma), 128);
  return all;
}

// 10-bit level 502 is half of the limited range: (502 - 64) / 876.
INSTANTIATE_TEST_SUITE_P(
    All, PixelTest,
    testing::Values(PixelCase{"yuv420p", planes(16, 8, 4), 4, 0, 0},
                    PixelCase{"yuv420p", planes(235, 8, 4), 4, 255, 0},
                    PixelCase{"yuv420p", planes(126, 8, 4), 4, 110 * 255 / 219.0, 0.5},
                    PixelCase{"yuv420p", planes(3, 8, 4), 4, 0, 0},
                    PixelCase{"yuv420p", planes(126, 6, 4), 3, 110 * 255 / 219.0,
                              0.5},  // odd width
                    PixelCase{"gray", planes(77, 8, 0), 4, 77, 0},
                    PixelCase{"nv12", planes(126, 8, 4), 4, 110 * 255 / 219.0, 0.5},
                    PixelCase{"yuyv422", repeat({126, 128}, 8), 4, 110 * 255 / 219.0, 0.5},
                    PixelCase{"uyvy422", repeat({128, 126}, 8), 4, 110 * 255 / 219.0, 0.5},
                    PixelCase{"yuv420p10le", repeat({0xF6, 0x01}, 12), 4, 127.5, 0.5},
                    PixelCase{"yuv444p10be", repeat({0x01, 0xF6}, 24), 4, 127.5, 0.5},
                    PixelCase{"gray16le", repeat({0x00, 0x80}, 8), 4, 127.5, 0.5},
                    PixelCase{"rgb24", repeat({255, 255, 255}, 8), 4, 255, 1},
                    PixelCase{"rgb24", repeat({0, 0, 0}, 8), 4, 0, 1},
                    PixelCase{"rgb24", repeat({128, 128, 128}, 8), 4, 128, 1},
                    PixelCase{"bgr24", repeat({0, 0, 255}, 8), 4, 0.299 * 255, 2},
                    PixelCase{"rgb24", repeat({0, 255, 0}, 8), 4, 0.587 * 255, 2}));

// Limited range to full, each of the 256 levels rounded to the nearest (ITU-R BT.709-6, 4.6).
TEST(PictureTest, EveryLevelIsStretchedExactly) {
  REQUIRE_FFMPEG_COMMAND();
  const TempDir dir;
  std::vector<std::uint8_t> pixels;
  for (int i = 0; i < 512; ++i) pixels.push_back(static_cast<std::uint8_t>(i % 256));
  pixels.resize(512 + 256, 128);
  write_file(dir / "video.raw", pixels);
  ASSERT_TRUE(dir.ffmpeg(raw_video("yuv420p", 256, 2) + "-c:v copy a.nut"));
  const Decoded decoded = decode(dir / "a.nut");
  ASSERT_EQ(decoded.frames.size(), 1U);
  for (int level = 0; level < 256; ++level) {
    const double full = std::clamp((level - 16) * 255 / 219.0, 0.0, 255.0);
    EXPECT_EQ(decoded.frames[0].luma.view()(1, level), std::lround(full)) << level;
  }
}

TEST(PictureTest, FullRangeYuvIsNotStretched) {
  REQUIRE_FFMPEG_COMMAND();
  const TempDir dir;
  write_file(dir / "video.raw", planes(77, 32 * 32, 2 * 16 * 16));
  ASSERT_TRUE(dir.ffmpeg(raw_video("yuvj420p", 32, 32) + "-c:v mjpeg -q:v 1 a.avi"));
  ASSERT_TRUE(dir.ffmpeg("-stream_loop 1 -i a.avi -c copy b.avi"));  // one picture is no video
  const Decoded decoded = decode(dir / "b.avi");
  ASSERT_EQ(decoded.frames.size(), 2U);
  for (const std::uint8_t value : decoded.frames[0].luma.elements()) EXPECT_NEAR(value, 77, 1);
}

TEST(PictureTest, PlacesEveryPixelOfAnOddSize) {
  REQUIRE_FFMPEG_COMMAND();
  const TempDir dir;
  std::vector<std::uint8_t> pixels(53 * 37);
  for (std::size_t i = 0; i < pixels.size(); ++i)
    pixels[i] = static_cast<std::uint8_t>(i * 7919 % 251);
  write_file(dir / "video.raw", pixels);
  ASSERT_TRUE(dir.ffmpeg(raw_video("gray", 53, 37) + "-c:v ffv1 a.mkv"));
  const auto frames = decode(dir / "a.mkv").frames;
  ASSERT_EQ(frames.front().luma.shape(), (Shape{37, 53}));
  for (std::size_t i = 0; i < pixels.size(); ++i)
    ASSERT_EQ(frames.front().luma.data()[i], pixels[i]);
}

// Pictures at 50 Hz, each brighter than the one before, two of which make an interlaced one.
TEST(PictureTest, OfInterlacedPicturesTheFirstFieldIsShown) {
  REQUIRE_FFMPEG_COMMAND();
  const TempDir dir;
  const std::string source =
      "-f lavfi -i \"color=black:s=64x48:r=50:d=1,format=yuv420p,geq=lum='16+4*N':cb=128:cr=128\" ";
  const auto fields = [](const std::string& top_or_bottom, const std::string& more) {
    return "-vf tinterlace=mode=interleave_" + top_or_bottom + ",setfield=" + top_or_bottom[0] +
           "ff" + more + " ";
  };
  const std::string mpeg2 = "-c:v mpeg2video -q:v 1 -flags +ildct+ilme ";
  ASSERT_TRUE(dir.ffmpeg(source + fields("top", "") + mpeg2 + "top.ts"));
  ASSERT_TRUE(dir.ffmpeg(source + fields("bottom", "") + mpeg2 + "bottom.ts"));
  ASSERT_TRUE(dir.ffmpeg(source + fields("top", ",setsar=4/3") + mpeg2 + "wide.ts"));
  ASSERT_TRUE(dir.ffmpeg(source + fields("bottom", "") + "-c:v ffv1 -pix_fmt bgr0 rgb.mkv"));
  ASSERT_TRUE(dir.ffmpeg(source + "-vf tinterlace=mode=interleave_top,setfield=prog -c:v ffv1 "
                                  "-field_order progressive progressive.mkv"));
  for (const char* const file : {"top.ts", "bottom.ts", "wide.ts", "rgb.mkv"}) {
    const std::vector<VideoFrame> frames = decode(dir / file).frames;
    ASSERT_EQ(frames.size(), 25U) << file;
    for (std::size_t i = 0; i < frames.size(); ++i) {
      const double first_field = 8 * static_cast<double>(i) * 255 / 219;
      for (const std::uint8_t value : frames[i].luma.elements()) {
        ASSERT_NEAR(value, first_field, 2) << file << ", picture " << i;
      }
    }
  }
  const std::vector<VideoFrame> combed = decode(dir / "progressive.mkv").frames;
  EXPECT_EQ(combed.at(0).luma.data()[0], 0);
  EXPECT_NEAR(combed.at(0).luma.data()[64], 4 * 255 / 219.0, 1);
}

// Film at 24 pictures a second on fields at 60: two fields of one picture, three of the next. Two
// of five pictures of the video begin with a field of a film picture that was shown already.
TEST(PictureTest, OfFilmOnFieldsTheNewPictureIsShown) {
  REQUIRE_FFMPEG_COMMAND();
  const TempDir dir;
  ASSERT_TRUE(dir.ffmpeg(
      "-f lavfi -i \"color=black:s=64x48:r=24000/1001:d=1,format=yuv420p,"
      "geq=lum='16+8*N':cb=128:cr=128\" -vf telecine,setfield=tff -c:v mpeg2video -q:v 1 -flags "
      "+ildct+ilme film.ts"));
  const std::vector<VideoFrame> frames = decode(dir / "film.ts").frames;
  ASSERT_GE(frames.size(), 25U);
  constexpr double kPictureMs = 1001.0 / 30;
  constexpr double kFilmOf[] = {0, 1, 2, 3, 3};
  constexpr double kShownAt[] = {0, 1, 2.5, 3.5, 4};
  for (std::size_t i = 0; i < 25; ++i) {
    const double round = static_cast<double>(i / 5);
    const double film = 4 * round + kFilmOf[i % 5];
    for (const std::uint8_t value : frames[i].luma.elements()) {
      ASSERT_NEAR(value, 8 * film * 255 / 219, 2) << "picture " << i;
    }
    EXPECT_NEAR((frames[i].time - frames[0].time).ms(), (5 * round + kShownAt[i % 5]) * kPictureMs,
                0.2)
        << "picture " << i;
  }
}

TEST(PictureTest, HugePicturesAreRefused) {
  REQUIRE_FFMPEG_COMMAND();
  const TempDir dir;
  ASSERT_TRUE(dir.ffmpeg("-f lavfi -i testsrc2=s=640x480:r=25:d=0.2 -c:v mpeg4 a.mkv"));
  MediaReader::Options options;
  options.max_pixels = 640 * 480 - 1;
  const std::string error = error_of([&] { decode(dir / "a.mkv", options); });
  EXPECT_EQ(error.find("unsupported | "), 0U) << error;
  EXPECT_NE(error.find("640 x 480"), std::string::npos) << error;
  options.max_pixels = 640 * 480;
  EXPECT_EQ(decode(dir / "a.mkv", options).frames.size(), 5U);
}

}  // namespace
}  // namespace av_fusion
