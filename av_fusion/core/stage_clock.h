// Copyright 2026 The av_fusion authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>

#include "av_fusion/core/stage_times.h"

namespace av_fusion {

/// Adds up where the time of the thread that made it goes, from its construction to its
/// destruction on the same thread, into `times`. A clock inside another one takes over meanwhile.
class StageClock {
 public:
  explicit StageClock(StageTimes& times) noexcept;
  ~StageClock();
  StageClock(const StageClock&) = delete;
  StageClock& operator=(const StageClock&) = delete;

 private:
  friend class StageScope;

  Stage enter(Stage stage) noexcept;

  StageTimes& times_;
  StageClock* outer_;
  Stage stage_ = Stage::kRest;
  std::chrono::steady_clock::time_point since_;
};

}  // namespace av_fusion
