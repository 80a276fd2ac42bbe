// Copyright 2026 The av_fusion authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <type_traits>

#include "av_fusion/core/shape.h"

namespace av_fusion {

/// A strided window on elements that somebody else owns and keeps alive. Cheap to copy.
///
/// `TensorView<const T>` is read-only; `TensorView<T>` converts to it. Strides count elements.
/// Copying a view never copies elements; a view may be used from several threads as long as
/// nobody writes.
template <typename T>
class TensorView {
 public:
  TensorView() = default;

  /// A dense row-major view.
  TensorView(T* data, const Shape& shape)
      : data_(data), shape_(shape), strides_(shape.dense_strides()) {}

  /// A view with the given strides in elements, one for each axis.
  TensorView(T* data, const Shape& shape, const Shape& strides)
      : data_(data), shape_(shape), strides_(strides) {}

  template <typename U>
  requires(std::is_same_v<const U, T> && !std::is_same_v<U, T>)
      TensorView(const TensorView<U>& other)  // NOLINT(google-explicit-constructor)
      : data_(other.data()), shape_(other.shape()), strides_(other.strides()) {}

  T* data() const noexcept { return data_; }
  const Shape& shape() const noexcept { return shape_; }
  const Shape& strides() const noexcept { return strides_; }
  int rank() const noexcept { return shape_.rank(); }
  std::int64_t dim(int axis) const noexcept { return shape_[axis]; }
  std::int64_t num_elements() const { return shape_.num_elements(); }
  bool empty() const { return num_elements() == 0; }
  bool is_dense() const noexcept { return strides_ == shape_.dense_strides(); }

  /// The element at the given indices, one for each axis. Indices are not checked.
  template <typename... Index>
  T& operator()(Index... index) const noexcept {
    const std::int64_t at[] = {static_cast<std::int64_t>(index)...};
    std::int64_t offset = 0;
    for (int axis = 0; axis < static_cast<int>(sizeof...(Index)); ++axis) {
      offset += at[axis] * strides_[axis];
    }
    return data_[offset];
  }

  /// Rows `begin` to `end` (exclusive) of the outermost axis.
  TensorView slice(std::int64_t begin, std::int64_t end) const {
    std::int64_t extents[Shape::kMaxRank] = {};
    for (int axis = 0; axis < rank(); ++axis) extents[axis] = shape_[axis];
    extents[0] = end - begin;
    return {data_ + begin * strides_[0],
            Shape(std::span<const std::int64_t>(extents, static_cast<std::size_t>(rank()))),
            strides_};
  }

 private:
  T* data_ = nullptr;
  Shape shape_;
  Shape strides_;
};

}  // namespace av_fusion
