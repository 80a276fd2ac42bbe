// Copyright 2026 The av_fusion authors. SPDX-License-Identifier: Apache-2.0
// The real detector and landmarks; the clips are not part of the repository.
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <numeric>
#include <optional>
#include <vector>

#include "av_fusion/core/error.h"
#include "av_fusion/features/face_detector.h"
#include "av_fusion/features/face_landmarker.h"
#include "av_fusion/features/log_mel.h"
#include "av_fusion/features/mouth_cropper.h"
#include "av_fusion/features/mouth_track_extractor.h"
#include "av_fusion/features/private/resample.h"
#include "av_fusion/media/media_reader.h"

namespace av_fusion {
namespace {

namespace fs = std::filesystem;

TEST(FaceModel, SaysWhatIsMissing) {
  try {
    make_dlib_face_landmarker("/nowhere/model.dat");
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kNotFound);
    EXPECT_NE(std::string(error.what()).find("/nowhere/model.dat"), std::string::npos);
  }
}

TEST(FaceModel, RefusesAFileThatIsNone) {
  const fs::path path =
      fs::path(::testing::TempDir()) / ("no_face_model_" + std::to_string(getpid()) + ".dat");
  std::ofstream(path) << "this is no landmark model";
  try {
    make_dlib_face_landmarker(path.string());
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kCorruptData);
  }
  fs::remove(path);
}

TEST(DlibFaceDetector, FindsNothingInNothing) {
  const auto detector = make_dlib_face_detector();
  EXPECT_TRUE(detector->detect(Tensor<std::uint8_t>(Shape{0, 0}).view()).empty());
  EXPECT_TRUE(detector->detect(Tensor<std::uint8_t>(Shape{1, 1}).view()).empty());
  EXPECT_TRUE(detector->detect(Tensor<std::uint8_t>(Shape{300, 200}).view()).empty());
  DlibFaceDetectorOptions options;
  options.max_side_px = 0;
  EXPECT_THROW(make_dlib_face_detector(options), Error);
}

// A host decides how many threads there are: OpenCV and dlib must do their work on the caller's.
TEST(Threads, AreLeftToTheHost) {
  const auto count = [] {
    const fs::directory_iterator tasks("/proc/self/task");
    return std::distance(fs::begin(tasks), fs::end(tasks));
  };
  if (!fs::exists("/proc/self/task")) GTEST_SKIP() << "no /proc";
  const auto before = count();
  Tensor<std::uint8_t> luma(Shape{2000, 3000});
  for (std::int64_t i = 0; i < luma.num_elements(); ++i) {
    luma.data()[i] = static_cast<std::uint8_t>(i * i / 977);
  }
  make_dlib_face_detector()->detect(luma.view());
  Tensor<std::uint8_t> crop(Shape{kMouthHeight, kMouthWidth});
  for (const float eye_distance : {30.0F, 100.0F, 190.0F, 800.0F}) {
    crop_mouth(luma.view(), {{1500, 1000}, eye_distance, 0.1F}, crop.view());
  }
  LogMelExtractor mel({{0}, LogMelExtractor::kHop});
  mel.push({{0}, std::vector<float>(160000, 0.1F)});
  EXPECT_EQ(count(), before);
}

class RealClip : public ::testing::Test {
 protected:
  void SetUp() override {
    const fs::path clip =
        fs::path(AV_FUSION_SHARED_DIR) / "data/val/grid_other/grid_other_0001.mp4";
    if (std::string(AV_FUSION_SHARED_DIR).empty() || !fs::exists(clip)) {
      GTEST_SKIP() << "the talking-face clips are not there (AV_FUSION_SHARED_DIR)";
    }
    try {
      find_face_model();
    } catch (const Error& error) {
      GTEST_SKIP() << error.what();
    }
    MediaReader reader(MediaSource::from_path(clip));
    while (auto event = reader.next()) {
      if (auto* frame = std::get_if<VideoFrame>(&*event)) frames_.push_back(std::move(*frame));
      if (auto* sound = std::get_if<AudioClip>(&*event)) sound_.push_back(std::move(*sound));
    }
  }

  std::vector<VideoFrame> frames_;
  std::vector<AudioClip> sound_;
};

Tensor<std::uint8_t> scaled(const Tensor<std::uint8_t>& luma, double scale) {
  const double width = double(luma.dim(1)), height = double(luma.dim(0));
  return resample(luma.view(), {0, 0, width, height}, static_cast<int>(height * scale),
                  static_cast<int>(width * scale));
}

/// Turned about the middle, border pixels repeated.
Tensor<std::uint8_t> turned(const Tensor<std::uint8_t>& luma, double degrees) {
  constexpr double kPi = 3.14159265358979323846;
  const double cosine = std::cos(degrees * kPi / 180), sine = std::sin(degrees * kPi / 180);
  const std::int64_t height = luma.dim(0), width = luma.dim(1);
  Tensor<std::uint8_t> result(luma.shape());
  for (std::int64_t y = 0; y < height; ++y) {
    for (std::int64_t x = 0; x < width; ++x) {
      const double dx = double(x) - double(width) / 2, dy = double(y) - double(height) / 2;
      const auto from_x = std::lround(double(width) / 2 + cosine * dx + sine * dy);
      const auto from_y = std::lround(double(height) / 2 - sine * dx + cosine * dy);
      result.view()(y, x) = luma.view()(std::clamp<std::int64_t>(from_y, 0, height - 1),
                                        std::clamp<std::int64_t>(from_x, 0, width - 1));
    }
  }
  return result;
}

double mean_difference(const Tensor<std::uint8_t>& a, const Tensor<std::uint8_t>& b) {
  double sum = 0;
  for (std::int64_t i = 0; i < a.num_elements(); ++i) sum += std::abs(a.data()[i] - b.data()[i]);
  return sum / double(a.num_elements());
}

TEST_F(RealClip, TheSameFaceAtOtherSizesGivesTheSameCrop) {
  const auto detector = make_dlib_face_detector();
  const auto landmarker = make_dlib_face_landmarker();
  const auto crop_at = [&](double scale) {
    const Tensor<std::uint8_t> luma = scaled(frames_.at(10).luma, scale);
    const auto boxes = detector->detect(luma.view());
    EXPECT_EQ(boxes.size(), 1U);
    Tensor<std::uint8_t> crop(Shape{kMouthHeight, kMouthWidth});
    if (!boxes.empty()) {
      crop_mouth(luma.view(), MouthPose::of(landmarker->locate(luma.view(), boxes[0])),
                 crop.view());
    }
    return crop;
  };
  const Tensor<std::uint8_t> original = crop_at(1);
  for (const double scale : {0.75, 1.5, 3.0, 6.0}) {
    EXPECT_LT(mean_difference(crop_at(scale), original), 6) << scale;
  }
}

TEST_F(RealClip, IsConfirmedByALookNearby) {
  const auto detector = make_dlib_face_detector();
  for (const double scale : {0.5, 1.0, 2.5}) {
    const Tensor<std::uint8_t> luma = scaled(frames_.at(10).luma, scale);
    const auto whole = detector->detect(luma.view());
    ASSERT_EQ(whole.size(), 1U) << scale;
    FaceBox expected = whole[0];
    expected.x += 0.1F * expected.width;  // a tracker's guess is not exact
    expected.width *= 1.15F;
    const auto near = detector->detect_near(luma.view(), expected);
    ASSERT_EQ(near.size(), 1U) << scale;
    EXPECT_GT(intersection_over_union(near[0], whole[0]), 0.6) << scale;
    expected.x += 3 * expected.width;
    EXPECT_TRUE(detector->detect_near(luma.view(), expected).empty()) << scale;
  }
}

// dlib's detector has filters of their own for tilted heads; the look nearby tries one at a time.
TEST_F(RealClip, IsConfirmedNearbyHoweverTheHeadIsTilted) {
  const auto detector = make_dlib_face_detector();
  const Tensor<std::uint8_t>& luma = frames_.at(10).luma;
  for (const double degrees : {0.0, 27.0, 0.0, -27.0}) {
    SCOPED_TRACE(degrees);
    const Tensor<std::uint8_t> tilted = turned(luma, degrees);
    const auto whole = detector->detect(tilted.view());
    ASSERT_EQ(whole.size(), 1U);
    const auto near = detector->detect_near(tilted.view(), whole[0]);
    ASSERT_EQ(near.size(), 1U);
    EXPECT_GT(near[0].score, 0.5F * whole[0].score);
    EXPECT_GT(intersection_over_union(near[0], whole[0]), 0.6);
  }
}

// Correlation of lip opening with the level of the sound `lag` frames of 10 ms later.
double correlation(const std::vector<float>& opening, const std::vector<float>& level,
                   std::int64_t first, std::int64_t lag) {
  double x = 0, y = 0, xx = 0, yy = 0, xy = 0, n = 0;
  for (std::size_t i = 0; i < opening.size(); ++i) {
    const std::int64_t at = first + 4 * static_cast<std::int64_t>(i) + lag;
    const double a = opening[i], b = level.at(static_cast<std::size_t>(at));
    x += a, y += b, xx += a * a, yy += b * b, xy += a * b, n += 1;
  }
  return (xy - x * y / n) / std::sqrt((xx - x * x / n) * (yy - y * y / n));
}

TEST_F(RealClip, LipsOpenWithTheVoice) {
  MouthTrackExtractor extractor(make_dlib_face_detector(), make_dlib_face_landmarker());
  for (VideoFrame& frame : frames_) extractor.push(std::move(frame));
  extractor.finish();
  const auto chunks = extractor.take_ready();
  ASSERT_EQ(chunks.size(), 1U);
  ASSERT_EQ(chunks[0].length(), 75);
  EXPECT_EQ(std::count(chunks[0].valid.begin(), chunks[0].valid.end(), 1), 75);
  std::vector<float> opening;
  for (std::int64_t i = 0; i < 75; ++i) {
    const float* geometry = chunks[0].geometry.data() + i * kLipGeometrySize;
    opening.push_back(geometry[1]);
    EXPECT_GT(geometry[2], 0.5F);  // width of the mouth in eye distances
    EXPECT_LT(geometry[2], 1.2F);
  }
  constexpr std::int64_t kMargin = 100;  // frames before the first tick
  const Timeline grid = *extractor.grid();
  LogMelExtractor mel({grid.start - LogMelExtractor::kHop * kMargin, LogMelExtractor::kHop});
  for (const AudioClip& clip : sound_) mel.push(clip);
  mel.finish(grid.at(75) + LogMelExtractor::kHop * kMargin);
  const auto frames = mel.take_ready();
  std::vector<float> level;
  for (std::int64_t i = 0; i < frames.length(); ++i) {
    const float* row = frames.values.data() + i * LogMelExtractor::kBands;
    level.push_back(std::accumulate(row, row + LogMelExtractor::kBands, 0.0F));
  }
  EXPECT_GT(correlation(opening, level, kMargin, 0), 0.3);
}

}  // namespace
}  // namespace av_fusion
