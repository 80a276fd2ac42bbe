// Copyright 2026 The av_fusion authors. SPDX-License-Identifier: Apache-2.0
#include "av_fusion/nn/dnnl/openmp_threads.h"

#include <dlfcn.h>

namespace av_fusion::internal {
namespace {

struct OpenMp {
  int (*get_max_threads)() = nullptr;
  void (*set_num_threads)(int) = nullptr;

  OpenMp() noexcept
      : get_max_threads(reinterpret_cast<int (*)()>(::dlsym(RTLD_DEFAULT, "omp_get_max_threads"))),
        set_num_threads(
            reinterpret_cast<void (*)(int)>(::dlsym(RTLD_DEFAULT, "omp_set_num_threads"))) {}

  bool found() const noexcept { return get_max_threads != nullptr && set_num_threads != nullptr; }
};

const OpenMp& open_mp() noexcept {
  static const OpenMp functions;
  return functions;
}

}  // namespace

OpenMpThreads::OpenMpThreads(int num_threads) noexcept {
  if (num_threads <= 0 || !open_mp().found()) return;
  const int current = open_mp().get_max_threads();
  if (current == num_threads) return;
  restore_ = current;
  open_mp().set_num_threads(num_threads);
}

OpenMpThreads::~OpenMpThreads() {
  if (restore_ > 0) open_mp().set_num_threads(restore_);
}

}  // namespace av_fusion::internal
