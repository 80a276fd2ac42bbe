// Copyright 2026 The av_fusion authors. SPDX-License-Identifier: Apache-2.0
#include "av_fusion/nn/dnnl/exec_context_impl.h"

#include <atomic>

namespace av_fusion::internal {

std::uint64_t next_layer_id() noexcept {
  static std::atomic<std::uint64_t> last{0};
  return last.fetch_add(1, std::memory_order_relaxed) + 1;
}

std::size_t PlanKeyHash::operator()(const PlanKey& key) const noexcept {
  // FNV-1a over whole words, with the high bits folded down after each step.
  std::uint64_t hash = 0xcbf29ce484222325u;
  const auto mix = [&hash](std::uint64_t word) {
    hash = (hash ^ word) * 0x100000001b3u;
    hash ^= hash >> 29;
  };
  mix(key.layer);
  mix(static_cast<std::uint64_t>(key.operation));
  for (const std::int64_t extent : key.shape) mix(static_cast<std::uint64_t>(extent));
  return static_cast<std::size_t>(hash);
}

std::shared_ptr<Op> PlanCache::find(const PlanKey& key) {
  const auto at = index_.find(key);
  if (at == index_.end()) return nullptr;
  entries_.splice(entries_.begin(), entries_, at->second);
  return at->second->second;
}

void PlanCache::insert(const PlanKey& key, std::shared_ptr<Op> op) {
  while (entries_.size() >= capacity_) {
    index_.erase(entries_.back().first);
    entries_.pop_back();
  }
  entries_.emplace_front(key, std::move(op));
  index_[key] = entries_.begin();
}

void* ScratchArena::reserve(std::size_t bytes) {
  constexpr std::size_t kPage = 4096;
  if (bytes > this->bytes()) {
    const std::size_t rounded = (bytes + kPage - 1) / kPage * kPage;
    memory_ = {};  // the old block goes first: the two need not exist together
    memory_ = Tensor<std::byte>(Shape{static_cast<std::int64_t>(rounded)});
  }
  return memory_.data();
}

}  // namespace av_fusion::internal
