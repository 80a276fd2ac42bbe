// Copyright 2026 The av_fusion authors. SPDX-License-Identifier: Apache-2.0
#include "av_fusion/core/stage_clock.h"

#include <numeric>
#include <utility>

#include "av_fusion/core/stage_scope.h"

namespace av_fusion {
namespace {

thread_local StageClock* current_clock = nullptr;

}  // namespace

std::string_view to_string(Stage stage) noexcept {
  switch (stage) {
    case Stage::kLoad: return "load";
    case Stage::kDecode: return "decode";
    case Stage::kDetect: return "detect";
    case Stage::kLandmarks: return "landmarks";
    case Stage::kCrop: return "crop";
    case Stage::kMel: return "mel";
    case Stage::kVideoEncoder: return "video encoder";
    case Stage::kAudioEncoder: return "audio encoder";
    case Stage::kAttention: return "attention";
    case Stage::kRest: break;
  }
  return "rest";
}

double StageTimes::total() const noexcept {
  return std::accumulate(seconds.begin(), seconds.end(), 0.0);
}

StageClock::StageClock(StageTimes& times) noexcept
    : times_(times),
      outer_(std::exchange(current_clock, this)),
      since_(std::chrono::steady_clock::now()) {}

StageClock::~StageClock() {
  enter(Stage::kRest);
  current_clock = outer_;
}

Stage StageClock::enter(Stage stage) noexcept {
  const auto now = std::chrono::steady_clock::now();
  times_[stage_] += std::chrono::duration<double>(now - since_).count();
  since_ = now;
  return std::exchange(stage_, stage);
}

StageScope::StageScope(Stage stage) noexcept : clock_(current_clock) {
  if (clock_ != nullptr) before_ = clock_->enter(stage);
}

StageScope::~StageScope() {
  if (clock_ != nullptr) clock_->enter(before_);
}

}  // namespace av_fusion
