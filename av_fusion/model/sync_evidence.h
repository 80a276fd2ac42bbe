// Copyright 2026 The av_fusion authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "av_fusion/core/tensor.h"
#include "av_fusion/core/timeline.h"

namespace av_fusion {

/// What the model says about a run of consecutive ticks of one face: the one parcel that goes from
/// the model to the align room.
///
/// Lags: column l stands for sound that is heard (l - width) * lag_hop after the picture it belongs
/// to, so lag > 0 is sound late and the offset in the sense of ITU-R BT.1359 is -lag.
struct SyncEvidence {
  Timeline ticks;                           ///< row i belongs to the picture tick `ticks.at(i)`
  MediaDuration lag_hop;                    ///< time between neighbouring lags
  std::int64_t width = 0;                   ///< lags run from -width to +width
  Tensor<float> lag_logits;                 ///< [T, 2 width + 1] sum over heads of attention logits
  Tensor<float> head_weights;               ///< [T, H, 2 width + 1] attention weights of each head
  Tensor<float> speaking_logits;            ///< [T] log-odds that this face makes the sound
  std::vector<MediaDuration> picture_late;  ///< [T] true picture time minus tick time
  std::vector<std::uint8_t> valid;          ///< [T] 1 where the mouth was seen
};

}  // namespace av_fusion
