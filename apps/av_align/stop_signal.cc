// Copyright 2026 The av_fusion authors. SPDX-License-Identifier: Apache-2.0
#include "stop_signal.h"

#include <atomic>
#include <csignal>

namespace av_align {
namespace {

std::atomic<int> caught{0};
static_assert(std::atomic<int>::is_always_lock_free, "a signal handler may touch nothing else");

void restore(int signal) {
  struct sigaction current {};
  // Not what is ignored.
  if (sigaction(signal, nullptr, &current) != 0 || current.sa_handler == SIG_IGN) return;
  std::signal(signal, SIG_DFL);
}

extern "C" void remember(int signal) {
  caught = signal;
  restore(SIGINT);
  restore(SIGTERM);
}

void catch_signal(int signal) {
  struct sigaction action {};
  if (sigaction(signal, nullptr, &action) != 0 || action.sa_handler == SIG_IGN) return;
  action = {};
  action.sa_handler = &remember;
  action.sa_flags = SA_RESTART;  // reading goes on; what must stop asks stop_signal
  sigemptyset(&action.sa_mask);
  sigaction(signal, &action, nullptr);
}

}  // namespace

void catch_stop_signals() {
  catch_signal(SIGINT);
  catch_signal(SIGTERM);
}

int stop_signal() noexcept { return caught; }

void ignore_write_signals() {
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGXFSZ, SIG_IGN);
}

}  // namespace av_align
