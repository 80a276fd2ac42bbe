// Copyright 2026 The av_fusion authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <exception>
#include <optional>
#include <thread>
#include <variant>

#include "av_fusion/core/tensor.h"
#include "av_fusion/core/timeline.h"
#include "av_fusion/features/mouth_chunk.h"
#include "av_fusion/fusion_stream_internal.h"
#include "av_fusion/spsc_queue_internal.h"

namespace av_fusion {

/// Hands calls to a `FusionStream`, in their order: at once, or on a thread of its own, so that the
/// network works while the caller looks for faces. Then nobody else may use the stream, or what its
/// sink writes to, before `finish` has returned. One thread at a time.
class FusionRunner {
 public:
  struct Mouths {
    MouthChunk chunk;
    Timeline grid;
  };
  struct Audio {
    Tensor<float> mel;
  };
  struct AdvanceTo {
    std::int64_t tick = 0;
  };
  struct FinishVideo {};
  struct FinishAudio {};
  struct Stop {};  ///< for the runner itself
  using Call = std::variant<Stop, Mouths, Audio, AdvanceTo, FinishVideo, FinishAudio>;

  FusionRunner(FusionStream& stream, bool on_own_thread);
  ~FusionRunner();  ///< calls that wait are dropped
  FusionRunner(const FusionRunner&) = delete;
  FusionRunner& operator=(const FusionRunner&) = delete;

  /// Throws what the call, or one before it, throws.
  void run(Call call);

  /// Returns when all calls are done. Throws as `run`.
  void finish();

 private:
  static constexpr std::uint32_t kCallsAhead = 64;

  void work();
  void do_call(Call& call);
  void join();

  FusionStream& stream_;
  SpscQueue<Call, kCallsAhead> queue_;
  std::exception_ptr failure_;  // written before the queue is closed, read after the thread ended
  std::atomic<bool> is_dropping_ = false;
  std::optional<std::thread> thread_;
};

}  // namespace av_fusion
