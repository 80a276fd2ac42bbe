// Copyright 2026 The av_fusion authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <utility>

namespace av_fusion {

/// A queue of at most `kCapacity` items between one thread that pushes and one that pops. Neither
/// takes a lock; one that cannot go on sleeps.
template <typename T, std::uint32_t kCapacity>
class SpscQueue {
 public:
  /// Waits while the queue is full. False, and the item is lost, once the other side has closed it.
  bool push(T item) {
    const std::uint32_t tail = tail_.load(std::memory_order_relaxed);
    std::uint32_t head = head_.load(std::memory_order_acquire);
    while (((tail - head) & kCountMask) == kCapacity && (head & kClosed) == 0) {
      head_.wait(head, std::memory_order_acquire);
      head = head_.load(std::memory_order_acquire);
    }
    if ((head & kClosed) != 0) return false;
    slots_[tail % kCapacity] = std::move(item);
    tail_.store((tail + 1) & kCountMask, std::memory_order_release);
    tail_.notify_one();
    return true;
  }

  /// Waits while the queue is empty. Not to be called after `close`.
  T pop() {
    const std::uint32_t head = head_.load(std::memory_order_relaxed);
    while (tail_.load(std::memory_order_acquire) == head) {
      tail_.wait(head, std::memory_order_acquire);
    }
    T item = std::move(slots_[head % kCapacity]);
    head_.store((head + 1) & kCountMask, std::memory_order_release);
    head_.notify_one();
    return item;
  }

  /// The popping side wants no more.
  void close() {
    head_.fetch_or(kClosed, std::memory_order_release);
    head_.notify_one();
  }

 private:
  static constexpr std::uint32_t kClosed = 1U << 31;
  static constexpr std::uint32_t kCountMask = kClosed - 1;
  static_assert(kCapacity > 0 && (kCapacity & (kCapacity - 1)) == 0, "a power of two");

  std::array<T, kCapacity> slots_{};
  std::atomic<std::uint32_t> head_ = 0;  // how many were popped; the highest bit: closed
  std::atomic<std::uint32_t> tail_ = 0;  // how many were pushed
};

}  // namespace av_fusion
