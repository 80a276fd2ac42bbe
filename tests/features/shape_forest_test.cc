// Copyright 2026 The av_fusion authors. SPDX-License-Identifier: Apache-2.0
#include "av_fusion/features/private/shape_forest.h"

#include <dlib/image_processing/shape_predictor.h>
#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "av_fusion/core/tensor.h"
#include "av_fusion/features/private/dlib_image.h"

namespace av_fusion {
namespace {

using Shape2d = dlib::matrix<float, 0, 1>;

constexpr int kPoints = 7;
constexpr unsigned long kPixels = 40;

/// A predictor with random trees: three levels of eleven, each eight leaves.
class MadePredictor {
 public:
  explicit MadePredictor(unsigned seed) : random_(seed) {
    std::vector<std::vector<dlib::impl::regression_tree>> forests(3);
    std::vector<std::vector<dlib::vector<float, 2>>> pixels(3);
    for (std::size_t level = 0; level < 3; ++level) {
      for (unsigned long i = 0; i < kPixels; ++i) {
        pixels[level].push_back({between(0, 1), between(0, 1)});
      }
      for (int tree = 0; tree < 11; ++tree) forests[level].push_back(make_tree());
    }
    Shape2d mean(2 * kPoints);
    for (float& value : mean) value = between(0.1F, 0.9F);
    predictor_ = dlib::shape_predictor(mean, forests, pixels);
  }

  const dlib::shape_predictor& predictor() const { return predictor_; }

  std::string file() const {
    std::ostringstream stream;
    serialize(predictor_, stream);
    return stream.str();
  }

 private:
  float between(float low, float high) {
    return low + (high - low) * static_cast<float>(random_()) / 4294967296.0F;
  }

  dlib::impl::regression_tree make_tree() {
    dlib::impl::regression_tree tree;
    for (int i = 0; i < 7; ++i) {
      const unsigned long first = random_() % kPixels;
      tree.splits.push_back(
          {first, (first + 1 + random_() % (kPixels - 1)) % kPixels, between(-60, 60)});
    }
    for (int i = 0; i < 8; ++i) {
      Shape2d leaf(2 * kPoints);
      for (float& value : leaf) value = between(-0.01F, 0.01F);
      tree.leaf_values.push_back(leaf);
    }
    return tree;
  }

  std::mt19937 random_;
  dlib::shape_predictor predictor_;
};

/// A smooth picture: what a pixel is hardly depends on how it is looked up.
Tensor<std::uint8_t> smooth_picture(int rows, int columns, double detail) {
  Tensor<std::uint8_t> luma(Shape{rows, columns});
  for (int y = 0; y < rows; ++y) {
    for (int x = 0; x < columns; ++x) {
      const double value = 128 + 60 * std::sin(detail * x) + 60 * std::cos(1.3 * detail * y);
      luma.data()[y * columns + x] = static_cast<std::uint8_t>(std::lround(value));
    }
  }
  return luma;
}

ShapeForest forest_of(const std::string& file) {
  std::istringstream stream(file);
  return ShapeForest::read(stream);
}

TEST(ShapeForest, PlacesThePointsOfDlib) {
  int close = 0, all = 0;
  for (unsigned seed = 1; seed <= 20; ++seed) {
    const MadePredictor made(seed);
    const ShapeForest forest = forest_of(made.file());
    ASSERT_EQ(forest.num_points(), std::size_t{kPoints});
    for (const int width : {256, 700}) {  // single pixels and squares of three
      const Tensor<std::uint8_t> luma = smooth_picture(800, 1000, 4.0 / width);
      const FaceBox box{120, 40, static_cast<float>(width), static_cast<float>(width), 1};
      const auto points = forest.locate(luma.view(), box);
      const auto expected = made.predictor()(DlibImage{luma.view()},
                                             dlib::rectangle(120, 40, 119 + width, 39 + width));
      for (unsigned long i = 0; i < kPoints; ++i) {
        // Whole numbers of dlib are pixel centres. Where a comparison that was a close call falls
        // the other way, all points of the face move.
        const double apart = std::hypot(points[i].x - 0.5 - double(expected.part(i).x()),
                                        points[i].y - 0.5 - double(expected.part(i).y()));
        close += apart < (width == 256 ? 0.8 : 1.6) ? 1 : 0;
        ++all;
      }
    }
  }
  EXPECT_GT(close, 0.75 * all) << "of " << all;
}

TEST(ShapeForest, PointsMoveAndGrowWithTheFace) {
  const ShapeForest forest = forest_of(MadePredictor(3).file());
  const Tensor<std::uint8_t> flat(Shape{300, 300});
  const auto small = forest.locate(flat.view(), {10, 20, 50, 50, 1});
  const auto large = forest.locate(flat.view(), {30, 5, 200, 200, 1});
  for (std::size_t i = 0; i < small.size(); ++i) {
    EXPECT_NEAR((large[i].x - 30) / 4, small[i].x - 10, 0.01);
    EXPECT_NEAR((large[i].y - 5) / 4, small[i].y - 20, 0.01);
  }
}

TEST(ShapeForest, ABoxMayLieOutsideThePicture) {
  const ShapeForest forest = forest_of(MadePredictor(3).file());
  const Tensor<std::uint8_t> luma = smooth_picture(30, 40, 0.1);
  for (const float at : {-1e6F, -40.0F, 35.0F, 1e9F}) {
    for (const float width : {1.0F, 60.0F, 1e6F}) {
      for (const auto& point : forest.locate(luma.view(), {at, at, width, width, 1})) {
        EXPECT_TRUE(std::isfinite(point.x) && std::isfinite(point.y));
      }
    }
  }
}

using Forests = std::vector<std::vector<dlib::impl::regression_tree>>;

/// A tree of so many splits and leaves that compares its first pixel with `pixel`.
dlib::impl::regression_tree make_tree(std::size_t splits, std::size_t leaves, long leaf_size = 4,
                                      unsigned long pixel = 1) {
  dlib::impl::regression_tree tree;
  tree.splits.assign(splits, {0, pixel, 10.0F});
  tree.leaf_values.assign(leaves, Shape2d(leaf_size));
  for (Shape2d& leaf : tree.leaf_values) leaf = 0.5F;
  return tree;
}

/// A file of these trees, which place two points, written part by part.
std::string file_of(const std::vector<dlib::impl::regression_tree>& trees,
                    unsigned long anchor = 1) {
  Shape2d mean(4);
  mean = 0.1F, 0.2F, 0.8F, 0.9F;
  std::ostringstream stream;
  dlib::serialize(1, stream);
  dlib::serialize(mean, stream);
  dlib::serialize(Forests{trees}, stream);
  dlib::serialize(std::vector<std::vector<unsigned long>>{{0, anchor}}, stream);
  dlib::serialize(std::vector<std::vector<dlib::vector<float, 2>>>{{{0, 0}, {0, 0}}}, stream);
  return stream.str();
}

TEST(ShapeForest, RefusesNumbersThatPointBeyondTheFile) {
  EXPECT_NO_THROW(forest_of(file_of({make_tree(1, 2)})));
  const auto expect_refusal = [](const std::string& file, const char* why) {
    EXPECT_THROW(forest_of(file), std::invalid_argument) << why;
  };
  expect_refusal(file_of({make_tree(1, 2)}, 2), "two points");
  expect_refusal(file_of({make_tree(1, 2, 4, 2)}), "two pixels");
  expect_refusal(file_of({make_tree(1, 2, 3)}), "4 numbers");
}

TEST(ShapeForest, TreesAreFullAndAlike) {
  EXPECT_NO_THROW(forest_of(file_of({make_tree(3, 4), make_tree(3, 4)})));
  for (const auto& trees : {std::vector{make_tree(2, 3)}, std::vector{make_tree(3, 3)},
                            std::vector{make_tree(3, 4), make_tree(1, 2)}}) {
    EXPECT_THROW(forest_of(file_of(trees)), std::invalid_argument);
  }
}

// A black picture decides every comparison alike, and in so large a box dlib's whole pixels are
// fine: what is left is what the bytes of the leaves cost.
TEST(ShapeForest, LeavesAreRoundedToTheNearestByte) {
  constexpr float kSide = 1'024'000;  // of which dlib takes all but a 256th
  const Tensor<std::uint8_t> black(Shape{8, 8});
  double squares = 0;
  int count = 0;
  for (unsigned seed = 1; seed <= 40; ++seed) {
    const MadePredictor made(seed);
    const auto points = forest_of(made.file()).locate(black.view(), {0, 0, kSide, kSide, 1});
    const auto expected = made.predictor()(DlibImage{black.view()},
                                           dlib::rectangle(2000, 2000, 1'022'000, 1'022'000));
    for (unsigned long i = 0; i < kPoints; ++i) {
      squares += std::pow((points[i].x - double(expected.part(i).x())) / kSide, 2) +
                 std::pow((points[i].y - double(expected.part(i).y())) / kSide, 2);
      count += 2;
    }
  }
  // 33 leaves of up to 0.01, each off by up to half of 1 / 127 of that.
  const double expected = std::sqrt(33.0 / 12) * 0.01 / 127;
  EXPECT_NEAR(std::sqrt(squares / count), expected, 0.3 * expected);
}

TEST(ShapeForest, RefusesDamagedFiles) {
  const std::string file = MadePredictor(5).file();
  ASSERT_NO_THROW(forest_of(file));
  EXPECT_THROW(forest_of(""), std::invalid_argument);
  for (std::size_t length = 0; length < file.size(); length += file.size() / 50) {
    EXPECT_THROW(forest_of(file.substr(0, length)), std::invalid_argument) << length;
  }
  // A damaged byte is refused or changes a number; it is never read beyond what is there.
  std::mt19937 random(1);
  for (int i = 0; i < 300; ++i) {
    std::string damaged = file;
    damaged[random() % std::min<std::size_t>(file.size(), i % 2 == 0 ? 400 : file.size())] ^=
        static_cast<char>(1U << random() % 8);
    try {
      const ShapeForest forest = forest_of(damaged);
      const Tensor<std::uint8_t> luma = smooth_picture(60, 60, 0.1);
      EXPECT_EQ(forest.locate(luma.view(), {5, 5, 40, 40, 1}).size(), forest.num_points());
    } catch (const std::invalid_argument&) {
      // refused
    }
  }
}

}  // namespace
}  // namespace av_fusion
