// Copyright 2026 The av_fusion authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <istream>
#include <span>
#include <vector>

#include "av_fusion/core/tensor_view.h"
#include "av_fusion/features/face_box.h"
#include "av_fusion/features/face_landmarks.h"
#include "av_fusion/features/private/dlib_numbers.h"
#include "av_fusion/features/private/large_page_allocator.h"

namespace av_fusion {

/// A cascade of regression trees that places points on a face (Kazemi and Sullivan, CVPR 2014),
/// read from a file of dlib's `shape_predictor`. It does what dlib does, with three differences:
/// the points are not rounded to whole pixels; pixels are interpolated, or averaged on large faces,
/// so that size and grain of the picture hardly matter; and leaves are bytes, with a scale each, in
/// one block that is fetched ahead, because most of the time goes to waiting for memory. Immutable:
/// one object may be used by several threads at once.
class ShapeForest {
 public:
  using Point = FaceLandmarks::Point;

  /// Throws `std::invalid_argument`, which says why, for anything else than such a file.
  static ShapeForest read(std::istream& stream);

  std::size_t num_points() const noexcept { return mean_shape_.size(); }

  /// The points of the face in `box` of the picture `luma` [height, width], not empty.
  std::vector<Point> locate(TensorView<const std::uint8_t> luma, const FaceBox& box) const;

 private:
  /// Goes left if pixel `first` exceeds pixel `second` by more than the threshold.
  struct Split {
    std::uint16_t first, second;
    float threshold;
  };

  /// Where a pixel lies: `delta` away from a point of the mean shape.
  struct Probe {
    std::size_t anchor = 0;
    Point delta;
  };

  /// The trees of one step of the cascade, all of the same depth, and the pixels they compare.
  struct Level {
    std::vector<Probe> probes;
    std::size_t splits_per_tree = 0;
    std::vector<Split> splits;   // tree by tree, each from the root down
    std::size_t first_leaf = 0;  // tree by tree
    float leaf_unit = 0;
  };

  Level read_trees(DlibNumbers& numbers);
  void add_leaf(std::span<const float> values, float unit);
  void read_probes(DlibNumbers& numbers);
  std::size_t num_trees(const Level& level) const;
  std::size_t find_leaf(const Level& level, std::size_t tree, const float* pixels) const;
  void add_trees(const Level& level, const std::vector<float>& pixels,
                 std::vector<Point>& shape) const;

  std::vector<Point> mean_shape_;  // in units of the face box
  std::vector<Level> levels_;
  std::vector<std::int8_t, LargePageAllocator<std::int8_t>> leaves_;  // x and y for each point
  std::vector<std::int16_t> leaf_factors_;  // of each leaf: what its bytes are multiples of
};

}  // namespace av_fusion
