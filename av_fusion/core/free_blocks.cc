// Copyright 2026 The av_fusion authors. SPDX-License-Identifier: Apache-2.0
#include "av_fusion/core/free_blocks.h"

#include <new>

namespace av_fusion {
namespace {

void free_block(void* block) noexcept {
  ::operator delete (block, std::align_val_t{FreeBlocks::kAlignment});
}

}  // namespace

FreeBlocks::~FreeBlocks() {
  for (std::atomic<void*>& place : blocks_) free_block(place.load(std::memory_order_acquire));
}

void* FreeBlocks::take() {
  for (std::atomic<void*>& place : blocks_) {
    if (void* block = place.exchange(nullptr, std::memory_order_acquire)) return block;
  }
  return ::operator new (block_bytes_, std::align_val_t{kAlignment});
}

void FreeBlocks::give_back(void* block) noexcept {
  for (std::atomic<void*>& place : blocks_) {
    void* empty = nullptr;
    if (place.compare_exchange_strong(empty, block, std::memory_order_release,
                                      std::memory_order_relaxed)) {
      return;
    }
  }
  free_block(block);
}

}  // namespace av_fusion
