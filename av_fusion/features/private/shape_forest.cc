// Copyright 2026 The av_fusion authors. SPDX-License-Identifier: Apache-2.0
#include "av_fusion/features/private/shape_forest.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <stdexcept>
#include <utility>

#ifdef __SSE2__
#include <emmintrin.h>
#endif

namespace av_fusion {
namespace {

using Point = FaceLandmarks::Point;

constexpr int kFileVersion = 1;
constexpr std::int64_t kMostLevels = 1000, kMostTrees = 60'000, kMostPixels = 60'000;
constexpr std::int64_t kMostPoints = 10'000, kMostSplits = 60'000;
constexpr int kLargestByte = 127;
constexpr int kLargestFactor = 256;  // the sum over the trees of a level fits in 32 bits
constexpr std::size_t kTreesAhead = 16;
constexpr std::size_t kCacheLineBytes = 64;
// A face much wider than this is read in squares of pixels, as if it were about so wide.
constexpr float kFaceWidthPx = 256;

[[noreturn]] void refuse() { throw std::invalid_argument("a number in it makes no sense"); }

std::size_t read_count(DlibNumbers& numbers, std::int64_t most) {
  const std::int64_t count = numbers.read_integer();
  if (count < 1 || count > most) refuse();
  return static_cast<std::size_t>(count);
}

/// A number below `limit`.
std::uint16_t read_index(DlibNumbers& numbers, std::size_t limit) {
  const std::int64_t index = numbers.read_integer();
  if (index < 0 || static_cast<std::size_t>(index) >= limit) refuse();
  return static_cast<std::uint16_t>(index);
}

/// The height of a matrix of one column. dlib writes both sizes negative, or neither long ago.
std::size_t read_column_size(DlibNumbers& numbers, std::int64_t most) {
  const std::int64_t rows = std::abs(numbers.read_integer());
  if (std::abs(numbers.read_integer()) != 1 || rows < 1 || rows > most) refuse();
  return static_cast<std::size_t>(rows);
}

/// `std::floor`, which calls the C library where the processor is not known to have SSE4.1.
int floor_of(float value) {
  const int whole = static_cast<int>(value);
  return whole - (value < static_cast<float>(whole) ? 1 : 0);
}

float largest_of(std::span<const float> values) {
  float largest = 0;
  for (const float value : values) largest = std::max(largest, std::abs(value));
  return largest;
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

struct ScaledLeaf {
  const std::int8_t* bytes = nullptr;
  std::int16_t factor = 0;
};

/// Adds two leaves to `sums`.
void add_two(const ScaledLeaf& a, const ScaledLeaf& b, std::vector<std::int32_t>& sums) {
  std::int32_t* const sum = sums.data();
  const std::size_t size = sums.size();
  std::size_t i = 0;
#ifdef __SSE2__
  const auto words = [](const std::int8_t* bytes) {
    const __m128i eight = _mm_loadl_epi64(reinterpret_cast<const __m128i*>(bytes));
    return _mm_srai_epi16(_mm_unpacklo_epi8(eight, eight), 8);
  };
  const auto add = [](std::int32_t* to, __m128i four) {
    auto* const place = reinterpret_cast<__m128i*>(to);
    _mm_storeu_si128(place, _mm_add_epi32(_mm_loadu_si128(place), four));
  };
  const __m128i factors = _mm_unpacklo_epi16(_mm_set1_epi16(a.factor), _mm_set1_epi16(b.factor));
  for (; i + 8 <= size; i += 8) {
    const __m128i left = words(a.bytes + i), right = words(b.bytes + i);
    add(sum + i, _mm_madd_epi16(_mm_unpacklo_epi16(left, right), factors));
    add(sum + i + 4, _mm_madd_epi16(_mm_unpackhi_epi16(left, right), factors));
  }
#endif
  for (; i < size; ++i) sum[i] += a.factor * a.bytes[i] + b.factor * b.bytes[i];
}

/// Reads a picture at places given in units of a face box.
class FaceSampler {
 public:
  FaceSampler(TensorView<const std::uint8_t> luma, const FaceBox& box)
      : luma_(luma),
        width_(static_cast<int>(luma.dim(1))),
        height_(static_cast<int>(luma.dim(0))),
        block_(std::clamp(static_cast<int>(std::lround(box.width / kFaceWidthPx)), 1, 64)),
        weight_(1.0F / static_cast<float>(block_ * block_)),
        // dlib's boxes end with the centres of their outer pixels.
        scale_x_(box.width * (1 - 1 / kFaceWidthPx)),
        scale_y_(box.height * (1 - 1 / kFaceWidthPx)),
        left_(box.x + box.width / kFaceWidthPx / 2),
        top_(box.y + box.height / kFaceWidthPx / 2) {}

  Point to_picture(Point at) const { return {left_ + scale_x_ * at.x, top_ + scale_y_ * at.y}; }

  /// The nearest place in the picture. What lies there is on its way to the processor afterwards.
  Point find(Point at) const {
    Point place = to_picture(at);
    place.x = std::clamp(place.x, 0.0F, static_cast<float>(width_));
    place.y = std::clamp(place.y, 0.0F, static_cast<float>(height_));
    __builtin_prefetch(address(static_cast<int>(place.x), static_cast<int>(place.y)));
    return place;
  }

  /// What a place that was found looks like.
  float read(Point place) const { return block_ > 1 ? average(place) : interpolate(place); }

 private:
  const std::uint8_t* address(int x, int y) const {
    const int column = std::clamp(x, 0, width_ - 1), row = std::clamp(y, 0, height_ - 1);
    return luma_.data() + row * luma_.strides()[0] + column;
  }

  /// Whether the square of so many pixels is in the picture as a whole.
  bool contains(int left, int top, int side) const {
    return left >= 0 && top >= 0 && left + side <= width_ && top + side <= height_;
  }

  float interpolate(Point place) const {
    const int column = floor_of(place.x - 0.5F), row = floor_of(place.y - 0.5F);
    const float right = place.x - 0.5F - static_cast<float>(column);
    const float below = place.y - 0.5F - static_cast<float>(row);
    const std::uint8_t* const corner = address(column, row);
    const bool is_inside = contains(column, row, 2);
    const std::ptrdiff_t stride = luma_.strides()[0];
    const float upper_left = *corner;
    const float upper_right = is_inside ? corner[1] : *address(column + 1, row);
    const float lower_left = is_inside ? corner[stride] : *address(column, row + 1);
    const float lower_right = is_inside ? corner[stride + 1] : *address(column + 1, row + 1);
    const float upper = upper_left * (1 - right) + upper_right * right;
    const float lower = lower_left * (1 - right) + lower_right * right;
    return upper * (1 - below) + lower * below;
  }

  float average(Point place) const {
    const float half = static_cast<float>(block_ - 1) / 2;
    const int left = floor_of(place.x - half), top = floor_of(place.y - half);
    const bool is_inside = contains(left, top, block_);
    int sum = 0;
    for (int y = top; y < top + block_; ++y) {
      const std::uint8_t* const row = address(left, y);
      for (int x = 0; x < block_; ++x) sum += is_inside ? row[x] : *address(left + x, y);
    }
    return static_cast<float>(sum) * weight_;
  }

  TensorView<const std::uint8_t> luma_;
  int width_, height_;
  int block_;
  float weight_;
  float scale_x_, scale_y_, left_, top_;
};

}  // namespace

ShapeForest ShapeForest::read(std::istream& stream) {
  DlibNumbers numbers(stream);
  if (numbers.read_integer() != kFileVersion) refuse();
  const std::size_t size = read_column_size(numbers, 2 * kMostPoints);
  if (size < 4 || size % 2 != 0) refuse();
  ShapeForest forest;
  for (std::size_t i = 0; i < size; i += 2) {
    const float x = numbers.read_float();
    forest.mean_shape_.push_back({x, numbers.read_float()});
  }
  const std::size_t levels = read_count(numbers, kMostLevels);
  for (std::size_t i = 0; i < levels; ++i) {
    forest.levels_.push_back(forest.read_trees(numbers));
    if (i == 0) forest.leaves_.reserve(levels * forest.leaves_.size());  // the others are alike
  }
  forest.read_probes(numbers);
  return forest;
}

/// Only one level is ever held as floating point.
ShapeForest::Level ShapeForest::read_trees(DlibNumbers& numbers) {
  const std::size_t trees = read_count(numbers, kMostTrees);
  const std::size_t size = 2 * num_points();
  Level level;
  std::vector<float> values;
  for (std::size_t tree = 0; tree < trees; ++tree) {
    const std::size_t splits = read_count(numbers, kMostSplits);
    if (tree == 0) level.splits_per_tree = splits;
    if (splits != level.splits_per_tree || (splits & (splits + 1)) != 0) refuse();
    for (std::size_t i = 0; i < splits; ++i) {
      const std::uint16_t first = read_index(numbers, kMostPixels);
      const std::uint16_t second = read_index(numbers, kMostPixels);
      level.splits.push_back({first, second, numbers.read_float()});
    }
    if (read_count(numbers, kMostSplits + 1) != splits + 1) refuse();
    for (std::size_t leaf = 0; leaf <= splits; ++leaf) {
      if (read_column_size(numbers, 2 * kMostPoints) != size) refuse();
      for (std::size_t i = 0; i < size; ++i) values.push_back(numbers.read_float());
    }
  }
  level.leaf_unit = std::max(largest_of(values), 1e-30F) / (kLargestByte * kLargestFactor);
  level.first_leaf = leaf_factors_.size();
  for (std::size_t at = 0; at < values.size(); at += size) {
    add_leaf({values.data() + at, size}, level.leaf_unit);
  }
  return level;
}

/// In multiples of `unit` times the least power of two with which bytes suffice.
void ShapeForest::add_leaf(std::span<const float> values, float unit) {
  const float largest = largest_of(values) / unit;
  int factor = 1;
  while (factor < kLargestFactor && largest > static_cast<float>(kLargestByte * factor))
    factor *= 2;
  leaf_factors_.push_back(static_cast<std::int16_t>(factor));
  const float scale = 1 / (unit * static_cast<float>(factor));
  for (const float value : values) {
    const float byte = std::clamp<float>(value * scale, -kLargestByte, kLargestByte);
    leaves_.push_back(static_cast<std::int8_t>(byte + std::copysign(0.5F, byte)));
  }
}

void ShapeForest::read_probes(DlibNumbers& numbers) {
  if (read_count(numbers, kMostLevels) != levels_.size()) refuse();
  for (Level& level : levels_) {
    level.probes.resize(read_count(numbers, kMostPixels));
    for (Probe& probe : level.probes) probe.anchor = read_index(numbers, num_points());
    for (const Split& split : level.splits) {
      if (std::max(split.first, split.second) >= level.probes.size()) refuse();
    }
  }
  if (read_count(numbers, kMostLevels) != levels_.size()) refuse();
  for (Level& level : levels_) {
    if (read_count(numbers, kMostPixels) != level.probes.size()) refuse();
    for (Probe& probe : level.probes) {
      probe.delta.x = numbers.read_float();
      probe.delta.y = numbers.read_float();
    }
  }
}

std::size_t ShapeForest::num_trees(const Level& level) const {
  return level.splits.size() / level.splits_per_tree;
}

std::size_t ShapeForest::find_leaf(const Level& level, std::size_t tree,
                                   const float* pixels) const {
  const Split* const splits = level.splits.data() + tree * level.splits_per_tree;
  std::size_t node = 0;
  while (node < level.splits_per_tree) {
    const Split& split = splits[node];
    const bool is_left = pixels[split.first] - pixels[split.second] > split.threshold;
    node = 2 * node + (is_left ? 1 : 2);
  }
  return level.first_leaf + tree * (level.splits_per_tree + 1) + node - level.splits_per_tree;
}

/// Adds the leaf of every tree to `shape`, while the leaves of the next trees are on their way.
void ShapeForest::add_trees(const Level& level, const std::vector<float>& pixels,
                            std::vector<Point>& shape) const {
  const std::size_t size = 2 * num_points();
  const std::size_t trees = num_trees(level);
  std::vector<std::int32_t> sums(size);
  std::array<ScaledLeaf, kTreesAhead> now, next;
  std::size_t ready = 0;  // of `now`
  for (std::size_t tree = 0; tree < trees + kTreesAhead; tree += kTreesAhead) {
    const std::size_t count = std::min(kTreesAhead, trees - std::min(tree, trees));
    for (std::size_t i = 0; i < count; ++i) {
      const std::size_t leaf = find_leaf(level, tree + i, pixels.data());
      next[i] = {leaves_.data() + leaf * size, leaf_factors_[leaf]};
      for (std::size_t byte = 0; byte < size; byte += kCacheLineBytes) {
        __builtin_prefetch(next[i].bytes + byte);
      }
    }
    for (std::size_t i = 0; i + 1 < ready; i += 2) add_two(now[i], now[i + 1], sums);
    if (ready % 2 == 1) add_two(now[ready - 1], {now[ready - 1].bytes, 0}, sums);
    std::swap(now, next);
    ready = count;
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
  std::vector<Point> places;
  std::vector<float> pixels;
  for (const Level& level : levels_) {
    const Point turn = similarity(mean_shape_, shape);
    places.clear();
    for (const Probe& probe : level.probes) {
      places.push_back(
          picture.find({shape[probe.anchor].x + turn.x * probe.delta.x - turn.y * probe.delta.y,
                        shape[probe.anchor].y + turn.y * probe.delta.x + turn.x * probe.delta.y}));
    }
    pixels.clear();
    for (const Point& place : places) pixels.push_back(picture.read(place));
    add_trees(level, pixels, shape);
  }
  for (Point& point : shape) point = picture.to_picture(point);
  return shape;
}

}  // namespace av_fusion
