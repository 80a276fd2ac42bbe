// Copyright 2026 The av_fusion authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "av_fusion/align/alignment.h"
#include "av_fusion/model/sync_evidence.h"

namespace av_fusion {

/// One row of evidence in which lags without sound are marked. `evidence` must outlive it.
class AttentionRow {
 public:
  AttentionRow(const SyncEvidence& evidence, std::int64_t row);

  /// [2 width + 1]; -infinity where there is no sound.
  std::span<const float> lag_logits() const { return lag_logits_; }

  bool has_sound() const;

  /// Where the heads look, as times from the container's zero. Needs `has_sound()`.
  AttentionFrame frame(int track) const;

 private:
  std::span<const float> head(std::int64_t index) const;
  MediaDuration audio_time(std::size_t column) const;

  const SyncEvidence& evidence_;
  std::int64_t row_;
  std::vector<float> lag_logits_;
};

}  // namespace av_fusion
