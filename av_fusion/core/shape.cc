// Copyright 2026 The av_fusion authors. SPDX-License-Identifier: Apache-2.0
#include "av_fusion/core/shape.h"

#include "av_fusion/core/error.h"

namespace av_fusion {

Shape::Shape(std::span<const std::int64_t> extents) {
  if (extents.size() > static_cast<std::size_t>(kMaxRank)) {
    throw Error(ErrorCode::kInvalidArgument, "shape",
                "at most 6 axes are supported, got " + std::to_string(extents.size()));
  }
  for (const std::int64_t extent : extents) {
    if (extent < 0 && extent != kAny) {
      throw Error(ErrorCode::kInvalidArgument, "shape",
                  "an extent is negative: " + std::to_string(extent));
    }
    extents_[static_cast<std::size_t>(rank_++)] = extent;
  }
}

std::int64_t Shape::num_elements() const {
  constexpr std::int64_t kLimit = std::int64_t{1} << 62;
  std::int64_t product = 1;
  for (const std::int64_t extent : extents()) {
    if (extent == 0) return 0;
    if (extent < 0 || product > kLimit / extent) {
      throw Error(ErrorCode::kInvalidArgument, "shape",
                  to_string() + " has no countable number of elements");
    }
    product *= extent;
  }
  return product;
}

Shape Shape::dense_strides() const {
  Shape strides = *this;
  std::int64_t step = 1;
  for (int axis = rank_ - 1; axis >= 0; --axis) {
    const auto at = static_cast<std::size_t>(axis);
    strides.extents_[at] = step;
    step *= extents_[at] > 0 ? extents_[at] : 1;
  }
  return strides;
}

std::string Shape::to_string() const {
  std::string text = "[";
  for (int axis = 0; axis < rank_; ++axis) {
    if (axis > 0) text += ", ";
    const std::int64_t extent = (*this)[axis];
    text += extent == kAny ? "*" : std::to_string(extent);
  }
  return text + "]";
}

void expect_shape(const Shape& actual, const Shape& expected, std::string_view name) {
  bool same = actual.rank() == expected.rank();
  for (int axis = 0; same && axis < expected.rank(); ++axis) {
    same = expected[axis] == kAny || expected[axis] == actual[axis];
  }
  if (!same) {
    throw Error(ErrorCode::kShapeMismatch, name,
                "expected " + expected.to_string() + ", got " + actual.to_string());
  }
}

}  // namespace av_fusion
