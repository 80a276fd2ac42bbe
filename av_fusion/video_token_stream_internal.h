// Copyright 2026 The av_fusion authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "av_fusion/chunk_plan_internal.h"
#include "av_fusion/core/tensor_view.h"
#include "av_fusion/model/aligner_model.h"
#include "av_fusion/nn/exec_context.h"
#include "av_fusion/row_queue_internal.h"

namespace av_fusion {

/// Mouth pictures and lip geometry in, video tokens out, for one face. The tokens do not depend on
/// how the pictures are cut into pushes. Rows count from the first tick of the track. Keeps what
/// has not been dropped. One thread at a time.
class VideoTokenStream {
 public:
  /// `model` must outlive the stream. `chunk`: ticks encoded at a time.
  VideoTokenStream(const AlignerModel& model, std::int64_t chunk);

  /// Appends ticks, `crops` [T, mouth_height, mouth_width] and `lips` [T, lip_features], and
  /// encodes what is complete.
  void push(ExecContext& context, TensorView<const std::uint8_t> crops,
            TensorView<const float> lips);

  /// There are no more ticks: encodes the rest.
  void finish(ExecContext& context);

  std::int64_t begin() const noexcept { return tokens_.begin(); }  ///< first token kept
  std::int64_t end() const noexcept { return tokens_.end(); }      ///< one after the last token

  /// Tokens `from` to `to`, [to - from, D]; begin() <= from <= to <= end(). Valid until the next
  /// push, finish or drop.
  TensorView<const float> tokens(std::int64_t from, std::int64_t to) const {
    return tokens_.rows(from, to);
  }

  /// Forgets the tokens before `token`.
  void drop_before(std::int64_t token) { tokens_.drop_before(token); }

 private:
  void encode(ExecContext& context, bool at_end);

  const AlignerModel& model_;
  ChunkPlan plan_;
  RowQueue<std::uint8_t> crops_;
  RowQueue<float> lips_;
  RowQueue<float> tokens_;
};

}  // namespace av_fusion
