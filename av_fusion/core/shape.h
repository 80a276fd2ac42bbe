// Copyright 2026 The av_fusion authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>

namespace av_fusion {

/// Matches any extent in `expect_shape`.
inline constexpr std::int64_t kAny = -1;

/// The extents of a dense array, outermost first; at most six axes, no heap memory.
class Shape {
 public:
  static constexpr int kMaxRank = 6;

  Shape() = default;

  /// Throws `Error(kInvalidArgument)` if there are more than six axes or an extent is negative
  /// (other than `kAny`).
  Shape(std::initializer_list<std::int64_t> extents)
      : Shape(std::span<const std::int64_t>(extents.begin(), extents.size())) {}
  explicit Shape(std::span<const std::int64_t> extents);

  int rank() const noexcept { return rank_; }
  std::int64_t operator[](int axis) const noexcept {
    return extents_[static_cast<std::size_t>(axis)];
  }

  /// Product of the extents; 1 for rank 0. Throws `Error(kInvalidArgument)` on overflow of 2^62.
  std::int64_t num_elements() const;

  /// Row-major strides in elements.
  Shape dense_strides() const;

  std::span<const std::int64_t> extents() const noexcept {
    return {extents_.data(), static_cast<std::size_t>(rank_)};
  }

  /// "[2, 100, 64]"; an extent of `kAny` prints as "*".
  std::string to_string() const;

  friend bool operator==(const Shape& a, const Shape& b) noexcept {
    return a.rank_ == b.rank_ && a.extents_ == b.extents_;
  }

 private:
  std::array<std::int64_t, kMaxRank> extents_{};
  int rank_ = 0;
};

/// Throws `Error(kShapeMismatch)` "`name`: expected [1, *, 256], got [1, 75, 192]" unless `actual`
/// has the rank of `expected` and agrees on every axis that is not `kAny`.
void expect_shape(const Shape& actual, const Shape& expected, std::string_view name);

}  // namespace av_fusion
