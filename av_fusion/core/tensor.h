// Copyright 2026 The av_fusion authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <memory>
#include <new>
#include <span>
#include <type_traits>
#include <utility>

#include "av_fusion/core/free_blocks.h"
#include "av_fusion/core/tensor_view.h"

namespace av_fusion {

template <typename T>
class TensorPool;

/// A dense row-major array that owns its memory, aligned to 64 bytes. Move-only: copying an array
/// is always spelled out (`clone`).
template <typename T>
class Tensor {
  static_assert(std::is_trivially_copyable_v<T>);

 public:
  static constexpr std::size_t kAlignment = FreeBlocks::kAlignment;

  Tensor() = default;

  /// Allocates and zero-fills. Throws `std::bad_alloc`, or `Error(kInvalidArgument)` if the shape
  /// has no countable number of elements.
  explicit Tensor(const Shape& shape)
      : shape_(shape),
        size_(shape.num_elements()),
        data_(size_ == 0
                  ? nullptr
                  : static_cast<T*>(::operator new (static_cast<std::size_t>(size_) * sizeof(T),
                                                    std::align_val_t{kAlignment}))) {
    std::fill_n(data_.get(), size_, T{});
  }

  Tensor(Tensor&& other) noexcept { swap(other); }
  Tensor& operator=(Tensor&& other) noexcept {
    Tensor taken(std::move(other));
    swap(taken);
    return *this;
  }

  Tensor clone() const {
    Tensor copy(shape_);
    std::copy_n(data_.get(), size_, copy.data_.get());
    return copy;
  }

  T* data() noexcept { return data_.get(); }
  const T* data() const noexcept { return data_.get(); }
  const Shape& shape() const noexcept { return shape_; }
  std::int64_t dim(int axis) const noexcept { return shape_[axis]; }
  std::int64_t num_elements() const noexcept { return size_; }
  bool empty() const noexcept { return size_ == 0; }

  TensorView<T> view() noexcept { return {data_.get(), shape_}; }
  TensorView<const T> view() const noexcept { return {data_.get(), shape_}; }
  std::span<T> elements() noexcept { return {data_.get(), static_cast<std::size_t>(size_)}; }
  std::span<const T> elements() const noexcept {
    return {data_.get(), static_cast<std::size_t>(size_)};
  }

 private:
  friend class TensorPool<T>;

  struct Free {
    std::shared_ptr<FreeBlocks> home = nullptr;  // where the memory came from, if from a pool

    void operator()(T* data) const noexcept {
      if (home != nullptr) return home->give_back(data);
      ::operator delete (data, std::align_val_t{kAlignment});
    }
  };

  /// Elements are not set.
  Tensor(const Shape& shape, std::shared_ptr<FreeBlocks> blocks)
      : shape_(shape),
        size_(shape.num_elements()),
        data_(size_ == 0 ? nullptr : static_cast<T*>(blocks->take()), Free{blocks}) {}

  void swap(Tensor& other) noexcept {
    std::swap(shape_, other.shape_);
    std::swap(size_, other.size_);
    std::swap(data_, other.data_);
  }

  Shape shape_{0};
  std::int64_t size_ = 0;
  std::unique_ptr<T[], Free> data_;
};

}  // namespace av_fusion
