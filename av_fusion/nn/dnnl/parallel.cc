// Copyright 2026 The av_fusion authors. SPDX-License-Identifier: Apache-2.0
#include "av_fusion/nn/dnnl/parallel.h"

#include <omp.h>

#include <atomic>
#include <exception>

#ifdef __SANITIZE_THREAD__
#include <sanitizer/tsan_interface.h>
#endif

namespace av_fusion::internal {
namespace {

// Tell the thread sanitizer what it cannot see, as the OpenMP runtime is not built with it: what
// happened before a region began, or before its threads ended.
#ifdef __SANITIZE_THREAD__
void publish(void* region) { __tsan_release(region); }
void take_over(void* region) { __tsan_acquire(region); }
#else
void publish(void* /*region*/) {}
void take_over(void* /*region*/) {}
#endif

}  // namespace

int default_threads() noexcept { return omp_get_max_threads(); }

void parallel_for(int threads, std::int64_t count,
                  const std::function<void(int worker, std::int64_t index)>& task) {
  std::atomic<std::int64_t> next{0};
  std::atomic_flag failed;
  std::exception_ptr failure;
  publish(&next);
#pragma omp parallel num_threads(threads)
  {
    take_over(&next);
    try {
      for (std::int64_t index = next++; index < count; index = next++) {
        task(omp_get_thread_num(), index);
      }
    } catch (...) {
      if (!failed.test_and_set()) failure = std::current_exception();
    }
    publish(&next);
  }
  take_over(&next);
  if (failure != nullptr) std::rethrow_exception(failure);
}

}  // namespace av_fusion::internal
