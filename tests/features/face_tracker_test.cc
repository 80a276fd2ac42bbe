// Copyright 2026 The av_fusion authors. SPDX-License-Identifier: Apache-2.0
#include "av_fusion/features/face_tracker.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "av_fusion/core/error.h"
#include "fake_faces.h"

namespace av_fusion {
namespace {

using testing::FakeDetector;
using testing::FakeFace;
using testing::FakeLandmarker;
using testing::FakeWorld;

class FaceTrackerTest : public ::testing::Test {
 protected:
  /// Faces are dark squares.
  VideoFrame picture_of(std::vector<FakeFace> faces) {
    VideoFrame frame = world_->add({}, faces);
    for (const FakeFace& face : faces) darken(frame, fake_box(face));
    return frame;
  }

  static void darken(VideoFrame& frame, const FaceBox& box) {
    const auto inside = [](float x, std::int64_t end) {
      return std::clamp<std::int64_t>(std::lround(x), 2, end);  // leaves the number in the corner
    };
    for (std::int64_t y = inside(box.y, 240); y < inside(box.y + box.height, 240); ++y) {
      for (std::int64_t x = inside(box.x, 320); x < inside(box.x + box.width, 320); ++x) {
        frame.luma.view()(y, x) = 60;
      }
    }
  }

  std::vector<TrackedFace> show(std::vector<FakeFace> faces, int ticks = 1) {
    return tracker_.update(picture_of(std::move(faces)).luma.view(), ticks);
  }

  bool detected_last() const {
    return !world_->detected_pictures.empty() &&
           world_->detected_pictures.back() == static_cast<int>(world_->pictures.size()) - 1;
  }

  std::shared_ptr<FakeWorld> world_ = std::make_shared<FakeWorld>();
  FaceTracker tracker_{std::make_unique<FakeDetector>(world_),
                       std::make_shared<FakeLandmarker>(world_)};
};

TEST_F(FaceTrackerTest, KeepsItsNumberWhileTheFaceMoves) {
  for (int i = 0; i < 100; ++i) {
    const FakeFace face{100.0 + i, 90 + 20 * std::sin(i * 0.2), 40 + 0.2 * i,
                        0.1 * std::sin(i * 0.1)};
    const auto faces = show({face});
    ASSERT_EQ(faces.size(), 1U) << i;
    EXPECT_EQ(faces[0].track_id, 0);
    EXPECT_NEAR(faces[0].landmarks.eye_distance(), face.eye_distance, 0.5);
  }
  EXPECT_EQ(tracker_.tracks_seen(), 1);
}

TEST_F(FaceTrackerTest, DetectsOnEverySixthPicture) {
  for (int i = 0; i < 31; ++i) {
    show({{100, 90, 40}});
    EXPECT_EQ(detected_last(), i % 6 == 0) << i;
  }
}

TEST_F(FaceTrackerTest, SearchesAStillPictureSeldomWhileItFollowsFaces) {
  for (int i = 0; i < 310; ++i) show({{100, 90, 40}, {250, 200, 30}});
  EXPECT_EQ(world_->searched_pictures, (std::vector<int>{0, 150, 300}));
}

TEST_F(FaceTrackerTest, SearchesWhereThePictureHasChangedBesideTheFaces) {
  const FakeFace speaker{100, 90, 40};
  FaceBox thing{200, 150, 40, 40, 0};
  const auto searched_with_thing = [&](int pictures) {
    for (int i = 0; i < pictures; ++i) {
      VideoFrame frame = picture_of({speaker});
      darken(frame, thing);
      tracker_.update(frame.luma.view());
    }
    return std::exchange(world_->searched_pictures, {});
  };
  for (int i = 0; i < 10; ++i) show({speaker});
  EXPECT_EQ(searched_with_thing(80), (std::vector<int>{0, 42})) << "the first look after 40 ticks";
  thing.x = 240;
  EXPECT_EQ(searched_with_thing(36), (std::vector<int>{90})) << "those 40 have long passed";
  thing.width = thing.height = 12;
  EXPECT_EQ(searched_with_thing(54), (std::vector<int>{132})) << "it has uncovered the wall";
  thing.x = 260;  // no face is so small
  EXPECT_EQ(searched_with_thing(60), (std::vector<int>{}));
  thing = {100 - 50, 90 - 10, 100, 50, 0};  // on the face that is followed
  EXPECT_EQ(searched_with_thing(24), (std::vector<int>{}));
}

TEST_F(FaceTrackerTest, AChangeOfLightIsAReasonToSearch) {
  for (int i = 0; i < 60; ++i) {
    VideoFrame frame = world_->add({}, {{100, 90, 40}}, 240, 320, i < 20 ? 90 : 100);
    tracker_.update(frame.luma.view());
  }
  EXPECT_EQ(world_->searched_pictures, (std::vector<int>{0, 42}));
}

TEST_F(FaceTrackerTest, SearchesTheWholePictureWhileThereIsNoFace) {
  for (int i = 0; i < 20; ++i) show({});
  EXPECT_EQ(world_->searched_pictures, (std::vector<int>{0, 6, 12, 18}));
}

TEST_F(FaceTrackerTest, NeighboursDoNotMakeTheSameFaceTwice) {
  for (int i = 0; i < 40; ++i) {
    std::vector<FakeFace> all = {{90, 90, 36}, {210, 90, 36}};
    if (i >= 8) all.push_back({150, 110, 30});  // in view of both
    const std::size_t seen = show(all).size();
    EXPECT_EQ(seen, i < 12 ? 2U : 3U) << i;
  }
  EXPECT_EQ(tracker_.tracks_seen(), 3);
}

TEST_F(FaceTrackerTest, FollowsSeveralFacesWithTheirOwnNumbers) {
  for (int i = 0; i < 60; ++i) {
    std::vector<FakeFace> all = {{70, 90, 30}, {220, 110, 36}};
    if (i >= 20) all.push_back({150, 200, 25});  // a third one joins
    const auto faces = show(all);
    if (i < 20) {
      ASSERT_EQ(faces.size(), 2U);
    } else if (i >= 42) {
      ASSERT_EQ(faces.size(), 3U);
      EXPECT_NEAR(faces[2].landmarks.mean(0, 68).x, 150, 10);
    }
    EXPECT_NEAR(faces[0].landmarks.mean(0, 68).x, 70, 10);
    EXPECT_NEAR(faces[1].landmarks.mean(0, 68).x, 220, 10);
  }
  EXPECT_EQ(tracker_.tracks_seen(), 3);
}

TEST_F(FaceTrackerTest, GivesUpAFaceThatNoDetectionConfirms) {
  FakeFace face{100, 90, 40};
  for (int i = 0; i < 7; ++i) show({face});  // detected in pictures 0 and 6
  face.visible_to_detector = false;
  int seen = 0;
  bool was_unconfirmed = false;
  for (int i = 0; i < 60; ++i) {
    const auto faces = show({face});
    seen += static_cast<int>(faces.size());
    if (!faces.empty() && !faces[0].confirmed) was_unconfirmed = true;
  }
  EXPECT_EQ(seen, FaceTrackerOptions{}.drop_after_ticks);
  EXPECT_TRUE(was_unconfirmed);
  EXPECT_FALSE(tracker_.is_alive(0));
}

TEST_F(FaceTrackerTest, AWeakDetectionConfirmsButStartsNothing) {
  class WeakDetector final : public FaceDetector {
   public:
    explicit WeakDetector(std::shared_ptr<FakeWorld> world) : detector_(std::move(world)) {}
    std::vector<FaceBox> detect(TensorView<const std::uint8_t> luma) override {
      auto boxes = detector_.detect(luma);
      for (FaceBox& box : boxes) box.score = score;
      return boxes;
    }
    float score = -0.2F;

   private:
    FakeDetector detector_;
  };
  auto detector = std::make_unique<WeakDetector>(world_);
  WeakDetector* weak = detector.get();
  FaceTracker tracker(std::move(detector), std::make_shared<FakeLandmarker>(world_));
  const auto look = [&] { return tracker.update(world_->add({}, {{100, 90, 40}}).luma.view()); };
  EXPECT_TRUE(look().empty());
  weak->score = 0.5F;
  for (int i = 0; i < 6; ++i) look();
  EXPECT_EQ(look().size(), 1U);
  weak->score = -0.2F;
  for (int i = 0; i < 60; ++i) EXPECT_EQ(look().size(), 1U);
}

TEST_F(FaceTrackerTest, SurvivesAFewPicturesWithoutSensibleLandmarks) {
  for (int i = 0; i < 10; ++i) show({{100, 90, 40}});
  for (int i = 0; i < 4; ++i) EXPECT_TRUE(show({}).empty());
  EXPECT_TRUE(tracker_.is_alive(0));
  const auto faces = show({{102, 91, 40}});
  ASSERT_EQ(faces.size(), 1U);
  EXPECT_EQ(faces[0].track_id, 0);
  for (int i = 0; i < 6; ++i) show({});
  EXPECT_FALSE(tracker_.is_alive(0));
}

TEST_F(FaceTrackerTest, AHoleBetweenPicturesEndsTheTrack) {
  for (int i = 0; i < 3; ++i) show({{100, 90, 40}});
  EXPECT_EQ(show({{100, 90, 40}}, 6).at(0).track_id, 0);
  EXPECT_EQ(show({{100, 90, 40}}, 7).at(0).track_id, 1);
}

TEST_F(FaceTrackerTest, ACutEndsAllTracksAndDetectsAtOnce) {
  const auto show_on = [&](auto&& background) {
    VideoFrame frame = world_->add({}, {{100, 90, 40}});
    for (int y = 0; y < 240; ++y) {
      for (int x = 2; x < 320; ++x) {
        frame.luma.view()(y, x) = static_cast<std::uint8_t>(background(x, y));
      }
    }
    return tracker_.update(frame.luma.view());
  };
  const auto scene_a = [](int x, int) { return x < 160 ? 40 : 180; };
  const auto flash_a = [](int x, int) { return x < 160 ? 110 : 250; };
  const auto scene_b = [](int, int y) { return y < 120 ? 200 : 60; };
  for (int i = 0; i < 4; ++i) EXPECT_EQ(show_on(scene_a).at(0).track_id, 0);
  EXPECT_EQ(show_on(flash_a).at(0).track_id, 0);
  EXPECT_EQ(show_on(scene_a).at(0).track_id, 0);
  EXPECT_EQ(show_on(scene_b).at(0).track_id, 1);
  EXPECT_TRUE(detected_last());
  EXPECT_FALSE(tracker_.is_alive(0));
}

TEST_F(FaceTrackerTest, AChangeOfThePictureSizeIsACut) {
  EXPECT_EQ(show({{100, 90, 40}}).at(0).track_id, 0);
  const VideoFrame other = world_->add({}, {{100, 90, 40}}, 200, 400);
  EXPECT_EQ(tracker_.update(other.luma.view()).at(0).track_id, 1);
}

TEST_F(FaceTrackerTest, IgnoresFacesThatAreTooSmallOrImpossible) {
  EXPECT_TRUE(show({{100, 90, 8}}).empty());
  EXPECT_TRUE(show({{100, 90, 40, 2.0}}).empty());  // lying on its side
  EXPECT_TRUE(show({{100, 225, 40}}).empty());      // mouth below the picture
  EXPECT_EQ(tracker_.tracks_seen(), 0);
}

TEST_F(FaceTrackerTest, IgnoresBoxesThatAreNone) {
  class OddDetector final : public FaceDetector {
   public:
    std::vector<FaceBox> detect(TensorView<const std::uint8_t>) override {
      const float nan = std::nanf("");
      return {{nan, 0, 50, 50, 1},
              {0, 0, nan, 50, 1},
              {0, 0, 0, 0, 1},
              {0, 0, 5, 5000, 1},
              {0, 0, HUGE_VALF, HUGE_VALF, 1}};
    }
  };
  FaceTracker tracker(std::make_unique<OddDetector>(), std::make_shared<FakeLandmarker>(world_));
  for (int i = 0; i < 10; ++i) {
    EXPECT_TRUE(tracker.update(world_->add({}, {{100, 90, 40}}).luma.view()).empty());
  }
}

TEST_F(FaceTrackerTest, RefusesMisuse) {
  EXPECT_THROW(FaceTracker(nullptr, std::make_shared<FakeLandmarker>(world_)), Error);
  EXPECT_THROW(FaceTracker(std::make_unique<FakeDetector>(world_), nullptr), Error);
  FaceTrackerOptions options;
  options.detect_every = 0;
  EXPECT_THROW(FaceTracker(std::make_unique<FakeDetector>(world_),
                           std::make_shared<FakeLandmarker>(world_), options),
               Error);
  EXPECT_THROW(tracker_.update(Tensor<std::uint8_t>(Shape{0, 0}).view()), Error);
  EXPECT_THROW(tracker_.update(Tensor<std::uint8_t>(Shape{4}).view()), Error);
}

}  // namespace
}  // namespace av_fusion
