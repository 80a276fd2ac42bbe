// Copyright 2026 The av_fusion authors. SPDX-License-Identifier: Apache-2.0
#include "av_fusion/nn/dnnl/parallel.h"

#include <omp.h>

#include <atomic>
#include <exception>

namespace av_fusion::internal {

int default_threads() noexcept { return omp_get_max_threads(); }

void parallel_for(int threads, std::int64_t count,
                  const std::function<void(int worker, std::int64_t index)>& task) {
  std::atomic<std::int64_t> next{0};
  std::atomic_flag failed;
  std::exception_ptr failure;
#pragma omp parallel num_threads(threads)
  {
    try {
      for (std::int64_t index = next++; index < count; index = next++) {
        task(omp_get_thread_num(), index);
      }
    } catch (...) {
      if (!failed.test_and_set()) failure = std::current_exception();
    }
  }
  if (failure != nullptr) std::rethrow_exception(failure);
}

}  // namespace av_fusion::internal
