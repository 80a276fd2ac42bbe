// Copyright 2026 The av_fusion authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <atomic>
#include <cstddef>

namespace av_fusion {

/// Blocks of memory of one size, aligned to `kAlignment`, that are not in use. Lock-free; every
/// call from any thread.
class FreeBlocks {
 public:
  static constexpr std::size_t kAlignment = 64;
  static constexpr std::size_t kCapacity = 16;

  explicit FreeBlocks(std::size_t block_bytes) : block_bytes_(block_bytes) {}
  ~FreeBlocks();
  FreeBlocks(const FreeBlocks&) = delete;
  FreeBlocks& operator=(const FreeBlocks&) = delete;

  std::size_t block_bytes() const noexcept { return block_bytes_; }

  /// A block that was given back, or a new one. Throws `std::bad_alloc`.
  void* take();

  /// Keeps a block that `take` returned, or frees it if `kCapacity` others are kept.
  void give_back(void* block) noexcept;

 private:
  std::size_t block_bytes_;
  std::array<std::atomic<void*>, kCapacity> blocks_{};
};

}  // namespace av_fusion
