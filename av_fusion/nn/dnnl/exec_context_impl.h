// Copyright 2026 The av_fusion authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <list>
#include <memory>
#include <unordered_map>
#include <utility>
#include <vector>

#include "av_fusion/core/tensor.h"
#include "av_fusion/nn/dnnl/op.h"
#include "av_fusion/nn/dnnl/openmp_threads.h"
#include "av_fusion/nn/dnnl/parallel.h"
#include "av_fusion/nn/exec_context.h"

namespace av_fusion::internal {

/// A number that no other layer of the process has.
std::uint64_t next_layer_id() noexcept;

/// Names a plan: the layer, which of its operations, and the shape it was built for.
struct PlanKey {
  std::uint64_t layer = 0;  ///< 0: operations without weights, shared by all layers
  int operation = 0;
  std::array<std::int64_t, 6> shape{};

  friend bool operator==(const PlanKey&, const PlanKey&) = default;
};

struct PlanKeyHash {
  std::size_t operator()(const PlanKey& key) const noexcept;
};

/// Least-recently-used cache of operations. Looking one up allocates nothing.
class PlanCache {
 public:
  explicit PlanCache(std::size_t capacity) : capacity_(capacity) {}

  /// The plan of `key`, or null; marks it as used.
  std::shared_ptr<Op> find(const PlanKey& key);
  void insert(const PlanKey& key, std::shared_ptr<Op> op);
  std::size_t size() const noexcept { return index_.size(); }

 private:
  using Entry = std::pair<PlanKey, std::shared_ptr<Op>>;

  std::size_t capacity_;
  std::list<Entry> entries_;  // most recent first
  std::unordered_map<PlanKey, std::list<Entry>::iterator, PlanKeyHash> index_;
};

/// Memory that grows to the largest size ever asked for and is then reused; 64-byte aligned.
class ScratchArena {
 public:
  /// At least `bytes` bytes. What an earlier call returned is no longer valid; contents undefined.
  void* reserve(std::size_t bytes);
  std::size_t bytes() const noexcept { return static_cast<std::size_t>(memory_.num_elements()); }

 private:
  Tensor<std::byte> memory_;
};

}  // namespace av_fusion::internal

namespace av_fusion {

class ExecContext::Impl {
 public:
  explicit Impl(const Options& options);

  /// Held by a layer from its first plan to its last run: sets the thread count of the context.
  class Use {
   public:
    explicit Use(Impl& impl) noexcept : impl_(impl), threads_(impl.options_.num_threads) {}
    /// Waits for the stream.
    void finish() { impl_.stream_.wait(); }

   private:
    Impl& impl_;
    internal::OpenMpThreads threads_;
  };

  /// The plan of `key`; `build` returns a std::shared_ptr<Op> and is called if there is none. The
  /// result stays valid while the caller holds it, whatever the cache drops.
  template <typename Build>
  std::shared_ptr<internal::Op> plan(const internal::PlanKey& key, const Build& build) {
    if (std::shared_ptr<internal::Op> found = plans_.find(key)) return found;
    std::shared_ptr<internal::Op> built = build();
    plans_.insert(key, built);
    return built;
  }

  /// Memory for a layer's intermediate results, valid while this object lives. Frames nest: a block
  /// holds one while the layers inside of it open theirs. No heap memory once the context has seen
  /// the sizes.
  class Frame {
   public:
    /// Room for the sum of what `take` will be asked for, each part rounded up by `rounded`.
    Frame(Impl& impl, std::int64_t num_floats) : impl_(impl) {
      if (impl.depth_ == impl.frames_.size()) impl.frames_.emplace_back();
      next_ = static_cast<float*>(
          impl.frames_[impl.depth_].reserve(static_cast<std::size_t>(num_floats) * sizeof(float)));
      ++impl.depth_;
    }
    ~Frame() { --impl_.depth_; }
    Frame(const Frame&) = delete;
    Frame& operator=(const Frame&) = delete;

    /// Parts begin on a boundary of 64 bytes.
    static constexpr std::int64_t rounded(std::int64_t floats) { return (floats + 15) / 16 * 16; }
    /// The next part; contents undefined.
    float* take(std::int64_t floats) { return std::exchange(next_, next_ + rounded(floats)); }

   private:
    Impl& impl_;
    float* next_ = nullptr;
  };

  /// Runs `op` with scratch memory of this context.
  void run(internal::Op& op) { op.run(stream_, scratchpad_.reserve(op.scratch_bytes())); }

  /// Threads of this context.
  int threads() const noexcept;

  /// Calls task(worker context, index) for each index in [0, count). With one index it runs in this
  /// context, whose primitives use all threads; with more, the indices are spread over the threads,
  /// each with a context of its own.
  template <typename Task>
  void for_each(std::int64_t count, const Task& task) {
    const auto workers = static_cast<int>(std::min<std::int64_t>(threads(), count));
    if (workers <= 1) {
      for (std::int64_t index = 0; index < count; ++index) task(*this, index);
      return;
    }
    prepare_workers(workers);
    internal::parallel_for(workers, count, [&](int worker, std::int64_t index) {
      Impl& context = *workers_[static_cast<std::size_t>(worker)];
      const Use use(context);
      task(context, index);
      context.stream_.wait();
    });
  }

  const Options& options() const noexcept { return options_; }
  std::size_t scratch_bytes() const noexcept;
  std::size_t num_plans() const noexcept;

 private:
  void prepare_workers(int count);

  Options options_;
  dnnl::stream stream_;
  internal::PlanCache plans_;
  internal::ScratchArena scratchpad_;          // of the primitive that runs
  std::deque<internal::ScratchArena> frames_;  // of the layers that run, outermost first
  std::size_t depth_ = 0;
  std::vector<std::unique_ptr<Impl>> workers_;  // of `for_each`, one thread each
};

}  // namespace av_fusion
