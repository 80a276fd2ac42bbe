// Copyright 2026 The av_fusion authors. SPDX-License-Identifier: Apache-2.0
#include "batch_tally.h"

#include <algorithm>

#include "exit_code.h"

namespace av_align {

void BatchTally::add(int exit_code) {
  worst_ = std::max(worst_, exit_code);
  if (exit_code == kExitUnreadableInput) {
    ++failed_;
  } else if (exit_code == kExitNotMeasurable) {
    ++not_measured_;
  } else {
    ++measured_;
    if (exit_code == kExitOutsideTolerance) ++outside_;
  }
}

void BatchTally::skip(int exit_code) {
  worst_ = std::max(worst_, exit_code);
  ++skipped_;
}

std::string BatchTally::summary() const {
  std::string text = std::to_string(measured_) + " measured";
  if (outside_ > 0) text += " (" + std::to_string(outside_) + " outside the tolerance)";
  text += ", " + std::to_string(not_measured_) + " not measured";
  text += ", " + std::to_string(failed_) + " failed";
  return text + ", " + std::to_string(skipped_) + " skipped";
}

}  // namespace av_align
