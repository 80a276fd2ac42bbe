// Copyright 2026 The av_fusion authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>

namespace av_fusion::internal {

/// The number of threads of an OpenMP region opened by this thread.
int default_threads() noexcept;

/// Calls task(worker, index) for each index in [0, count) from `threads` OpenMP threads, numbered
/// from 0; each index goes to the thread that is free next. OpenMP, because its threads are those
/// that oneDNN has running already; primitives run inside use one thread each. What a task throws
/// is thrown here after the others have ended.
void parallel_for(int threads, std::int64_t count,
                  const std::function<void(int worker, std::int64_t index)>& task);

}  // namespace av_fusion::internal
