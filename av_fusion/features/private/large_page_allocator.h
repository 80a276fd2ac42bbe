// Copyright 2026 The av_fusion authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#ifdef __linux__
#include <sys/mman.h>
#endif

#include <cstddef>
#include <cstdlib>
#include <new>

namespace av_fusion {

/// An allocator for tables of many megabytes that are read here and there: it asks for large pages,
/// without which almost every read misses the processor's cache of page addresses. A system that
/// has none is not asked twice.
template <typename T>
struct LargePageAllocator {
  using value_type = T;
  static constexpr std::size_t kPageBytes = std::size_t{2} << 20;

  LargePageAllocator() noexcept = default;
  template <typename U>
  explicit LargePageAllocator(const LargePageAllocator<U>&) noexcept {}

  T* allocate(std::size_t count) {
    const std::size_t bytes = (count * sizeof(T) + kPageBytes - 1) / kPageBytes * kPageBytes;
    void* const block = std::aligned_alloc(kPageBytes, bytes);
    if (block == nullptr) throw std::bad_alloc();
#ifdef __linux__
    madvise(block, bytes, MADV_HUGEPAGE);  // a wish
#endif
    return static_cast<T*>(block);
  }
  void deallocate(T* block, std::size_t) noexcept { std::free(block); }

  friend bool operator==(const LargePageAllocator&, const LargePageAllocator&) { return true; }
};

}  // namespace av_fusion
