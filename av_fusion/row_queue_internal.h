// Copyright 2026 The av_fusion authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "av_fusion/core/tensor_view.h"

namespace av_fusion {

/// A queue of equally long rows in one piece of memory. Rows are numbered from the first one ever
/// pushed; numbers stay when rows are dropped at the front. One thread at a time.
template <typename T>
class RowQueue {
 public:
  /// `row_shape`: the extents of one row, for example {64, 96}.
  explicit RowQueue(Shape row_shape)
      : row_shape_(row_shape), row_size_(static_cast<std::size_t>(row_shape.num_elements())) {}

  std::int64_t begin() const noexcept { return begin_; }  ///< number of the first row kept
  std::int64_t end() const noexcept { return end_; }      ///< one after the last row

  /// Appends `count` rows from `data`.
  void push(const T* data, std::int64_t count) {
    rows_.insert(rows_.end(), data, data + static_cast<std::size_t>(count) * row_size_);
    end_ += count;
  }

  /// Rows `from` to `to` (exclusive), begin() <= from <= to <= end(). Valid until the queue
  /// changes.
  TensorView<const T> rows(std::int64_t from, std::int64_t to) const {
    std::vector<std::int64_t> extents{to - from};
    extents.insert(extents.end(), row_shape_.extents().begin(), row_shape_.extents().end());
    return {rows_.data() + position(from), Shape(extents)};
  }

  /// Forgets all rows; the next one pushed gets the number `row` >= end().
  void restart_at(std::int64_t row) {
    rows_.clear();
    stored_begin_ = begin_ = end_ = row;
  }

  /// Forgets the rows before `row`; does nothing if they are gone already.
  void drop_before(std::int64_t row) {
    begin_ = std::clamp(row, begin_, end_);
    if (position(begin_) * 2 < rows_.size()) return;  // moving rows seldom keeps the cost linear
    rows_.erase(rows_.begin(), rows_.begin() + static_cast<std::ptrdiff_t>(position(begin_)));
    stored_begin_ = begin_;
  }

 private:
  std::size_t position(std::int64_t row) const noexcept {
    return static_cast<std::size_t>(row - stored_begin_) * row_size_;
  }

  Shape row_shape_;
  std::size_t row_size_;
  std::vector<T> rows_;
  std::int64_t stored_begin_ = 0;  // number of the first row in memory
  std::int64_t begin_ = 0;
  std::int64_t end_ = 0;
};

}  // namespace av_fusion
