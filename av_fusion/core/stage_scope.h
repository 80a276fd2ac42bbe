// Copyright 2026 The av_fusion authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include "av_fusion/core/stage_clock.h"
#include "av_fusion/core/stage_times.h"

namespace av_fusion {

/// The thread is in `stage` until the end of the block. Costs next to nothing where no clock runs.
class StageScope {
 public:
  explicit StageScope(Stage stage) noexcept;
  ~StageScope();
  StageScope(const StageScope&) = delete;
  StageScope& operator=(const StageScope&) = delete;

 private:
  StageClock* clock_;
  Stage before_ = Stage::kRest;
};

}  // namespace av_fusion
