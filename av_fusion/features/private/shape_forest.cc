// Copyright 2026 The av_fusion authors. SPDX-License-Identifier: Apache-2.0
#include "av_fusion/features/private/shape_forest.h"

#include <dlib/image_processing/shape_predictor.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace av_fusion {
namespace {

using Point = FaceLandmarks::Point;

constexpr int kFileVersion = 1;
constexpr unsigned long kMostLevels = 1000, kMostTrees = 60'000, kMostPixels = 60'000;
constexpr float kLargestInteger = 32767;  // the sum over the trees of a level fits in 32 bits
constexpr std::size_t kTreesAhead = 16;
constexpr std::size_t kCacheLineBytes = 64;
// A face much wider than this is read in squares of pixels, as if it were about so wide.
constexpr float kFaceWidthPx = 256;

[[noreturn]] void refuse() { throw dlib::serialization_error("a number in it makes no sense"); }

unsigned long read_count(std::istream& stream, unsigned long most) {
  unsigned long count = 0;
  dlib::deserialize(count, stream);
  if (count == 0 || count > most) refuse();
  return count;
}

/// The turn and scale (cosine and sine times the scale) that map the differences between the points
/// of `from` best, in the sense of least squares, onto those of `to`.
Point similarity(const std::vector<Point>& from, const std::vector<Point>& to) {
  Point from_mean, to_mean;
  for (std::size_t i = 0; i < from.size(); ++i) {
    from_mean = {from_mean.x + from[i].x, from_mean.y + from[i].y};
    to_mean = {to_mean.x + to[i].x, to_mean.y + to[i].y};
  }
  const auto count = static_cast<float>(from.size());
  float along = 0, across = 0, square = 1e-12F;
  for (std::size_t i = 0; i < from.size(); ++i) {
    const Point a{from[i].x - from_mean.x / count, from[i].y - from_mean.y / count};
    const Point b{to[i].x - to_mean.x / count, to[i].y - to_mean.y / count};
    along += a.x * b.x + a.y * b.y;
    across += a.x * b.y - a.y * b.x;
    square += a.x * a.x + a.y * a.y;
  }
  return {along / square, across / square};
}

/// Reads a picture at places given in units of a face box.
class FaceSampler {
 public:
  FaceSampler(TensorView<const std::uint8_t> luma, const FaceBox& box)
      : luma_(luma),
        block_(std::clamp(static_cast<int>(std::lround(box.width / kFaceWidthPx)), 1, 64)),
        // dlib's boxes end with the centres of their outer pixels.
        scale_x_(box.width * (1 - 1 / kFaceWidthPx)),
        scale_y_(box.height * (1 - 1 / kFaceWidthPx)),
        left_(box.x + box.width / kFaceWidthPx / 2),
        top_(box.y + box.height / kFaceWidthPx / 2) {}

  Point to_picture(Point at) const { return {left_ + scale_x_ * at.x, top_ + scale_y_ * at.y}; }

  float operator()(Point at) const {
    Point place = to_picture(at);
    place.x = std::clamp(place.x, 0.0F, static_cast<float>(luma_.dim(1)));
    place.y = std::clamp(place.y, 0.0F, static_cast<float>(luma_.dim(0)));
    return block_ > 1 ? average(place) : interpolate(place);
  }

 private:
  float pixel(int x, int y) const {
    const int column = std::clamp(x, 0, static_cast<int>(luma_.dim(1)) - 1);
    const int row = std::clamp(y, 0, static_cast<int>(luma_.dim(0)) - 1);
    return static_cast<float>(luma_.data()[row * luma_.strides()[0] + column]);
  }

  float interpolate(Point place) const {
    const float x = std::floor(place.x - 0.5F), y = std::floor(place.y - 0.5F);
    const float right = place.x - 0.5F - x, below = place.y - 0.5F - y;
    const int column = static_cast<int>(x), row = static_cast<int>(y);
    const float upper = pixel(column, row) * (1 - right) + pixel(column + 1, row) * right;
    const float lower = pixel(column, row + 1) * (1 - right) + pixel(column + 1, row + 1) * right;
    return upper * (1 - below) + lower * below;
  }

  float average(Point place) const {
    const auto half = static_cast<float>(block_) / 2;
    const int left = static_cast<int>(std::lround(place.x - half));
    const int top = static_cast<int>(std::lround(place.y - half));
    float sum = 0;
    for (int y = top; y < top + block_; ++y) {
      for (int x = left; x < left + block_; ++x) sum += pixel(x, y);
    }
    return sum / static_cast<float>(block_ * block_);
  }

  TensorView<const std::uint8_t> luma_;
  int block_;
  float scale_x_, scale_y_, left_, top_;
};

}  // namespace

ShapeForest ShapeForest::read(std::istream& stream) {
  int version = 0;
  dlib::deserialize(version, stream);
  if (version != kFileVersion) refuse();
  dlib::matrix<float, 0, 1> mean;
  dlib::deserialize(mean, stream);
  if (mean.size() < 4 || mean.size() % 2 != 0) refuse();
  ShapeForest forest;
  for (long i = 0; i < mean.size(); i += 2) forest.mean_shape_.push_back({mean(i), mean(i + 1)});
  const unsigned long levels = read_count(stream, kMostLevels);
  for (unsigned long i = 0; i < levels; ++i) {
    forest.levels_.push_back(forest.read_trees(stream));
    if (i == 0) forest.leaves_.reserve(levels * forest.leaves_.size());  // the others are alike
  }
  forest.read_probes(stream);
  return forest;
}

/// Tree by tree, so that only one level is ever held as floating point.
ShapeForest::Level ShapeForest::read_trees(std::istream& stream) {
  const unsigned long trees = read_count(stream, kMostTrees);
  Level level;
  std::vector<float> values;
  for (unsigned long i = 0; i < trees; ++i) {
    dlib::impl::regression_tree tree;
    deserialize(tree, stream);
    if (i == 0) level.splits_per_tree = tree.splits.size();
    const std::size_t leaves = tree.leaf_values.size();
    const bool is_full = leaves > 1 && (leaves & (leaves - 1)) == 0;
    if (!is_full || tree.splits.size() != leaves - 1) refuse();
    if (tree.splits.size() != level.splits_per_tree) refuse();
    for (const dlib::impl::split_feature& split : tree.splits) {
      if (std::max(split.idx1, split.idx2) >= kMostPixels) refuse();
      level.splits.push_back({static_cast<std::uint16_t>(split.idx1),
                              static_cast<std::uint16_t>(split.idx2), split.thresh});
    }
    for (const auto& leaf : tree.leaf_values) {
      if (static_cast<std::size_t>(leaf.size()) != 2 * num_points()) refuse();
      values.insert(values.end(), leaf.begin(), leaf.end());
    }
  }
  float largest = 1e-30F;
  for (const float value : values) {
    if (!std::isfinite(value)) refuse();
    largest = std::max(largest, std::abs(value));
  }
  level.leaf_unit = largest / kLargestInteger;
  level.first_leaf = leaves_.size();
  for (const float value : values) {
    leaves_.push_back(static_cast<std::int16_t>(std::lround(value / level.leaf_unit)));
  }
  return level;
}

void ShapeForest::read_probes(std::istream& stream) {
  if (read_count(stream, kMostLevels) != levels_.size()) refuse();
  for (Level& level : levels_) {
    std::vector<unsigned long> anchors;
    dlib::deserialize(anchors, stream);
    level.probes.resize(anchors.size());
    for (std::size_t i = 0; i < anchors.size(); ++i) {
      if (anchors[i] >= num_points()) refuse();
      level.probes[i].anchor = anchors[i];
    }
    for (const Split& split : level.splits) {
      if (std::max(split.first, split.second) >= anchors.size()) refuse();
    }
  }
  if (read_count(stream, kMostLevels) != levels_.size()) refuse();
  for (Level& level : levels_) {
    std::vector<dlib::vector<float, 2>> deltas;
    dlib::deserialize(deltas, stream);
    if (deltas.size() != level.probes.size()) refuse();
    for (std::size_t i = 0; i < deltas.size(); ++i) {
      level.probes[i].delta = {deltas[i].x(), deltas[i].y()};
    }
  }
}

std::size_t ShapeForest::num_trees(const Level& level) const {
  return level.splits.size() / level.splits_per_tree;
}

const std::int16_t* ShapeForest::find_leaf(const Level& level, std::size_t tree,
                                           const float* pixels) const {
  const Split* const splits = level.splits.data() + tree * level.splits_per_tree;
  std::size_t node = 0;
  while (node < level.splits_per_tree) {
    const Split& split = splits[node];
    const bool is_left = pixels[split.first] - pixels[split.second] > split.threshold;
    node = 2 * node + (is_left ? 1 : 2);
  }
  const std::size_t leaf = tree * (level.splits_per_tree + 1) + node - level.splits_per_tree;
  return leaves_.data() + level.first_leaf + leaf * 2 * num_points();
}

/// Adds the leaf of every tree to `shape`, while the leaves of the next trees are on their way.
void ShapeForest::add_trees(const Level& level, const std::vector<float>& pixels,
                            std::vector<Point>& shape) const {
  const std::size_t size = 2 * num_points();
  const std::size_t trees = num_trees(level);
  std::vector<std::int32_t> sums(size);
  std::int32_t* const sum = sums.data();
  std::array<const std::int16_t*, kTreesAhead> ahead{};
  for (std::size_t step = 0; step < trees + kTreesAhead; ++step) {
    const std::int16_t*& slot = ahead[step % kTreesAhead];
    if (step >= kTreesAhead) {
      const std::int16_t* const leaf = slot;
      for (std::size_t i = 0; i < size; ++i) sum[i] += leaf[i];
    }
    if (step >= trees) continue;
    slot = find_leaf(level, step, pixels.data());
    for (std::size_t byte = 0; byte < size * sizeof(*slot); byte += kCacheLineBytes) {
      __builtin_prefetch(reinterpret_cast<const char*>(slot) + byte);
    }
  }
  for (std::size_t i = 0; i < shape.size(); ++i) {
    shape[i].x += level.leaf_unit * static_cast<float>(sums[2 * i]);
    shape[i].y += level.leaf_unit * static_cast<float>(sums[2 * i + 1]);
  }
}

std::vector<Point> ShapeForest::locate(TensorView<const std::uint8_t> luma,
                                       const FaceBox& box) const {
  const FaceSampler picture(luma, box);
  std::vector<Point> shape = mean_shape_;
  std::vector<float> pixels;
  for (const Level& level : levels_) {
    const Point turn = similarity(mean_shape_, shape);
    pixels.clear();
    for (const Probe& probe : level.probes) {
      pixels.push_back(
          picture({shape[probe.anchor].x + turn.x * probe.delta.x - turn.y * probe.delta.y,
                   shape[probe.anchor].y + turn.y * probe.delta.x + turn.x * probe.delta.y}));
    }
    add_trees(level, pixels, shape);
  }
  for (Point& point : shape) point = picture.to_picture(point);
  return shape;
}

}  // namespace av_fusion
