// Copyright 2026 The av_fusion authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "av_fusion/chunk_plan_internal.h"
#include "av_fusion/core/tensor_view.h"
#include "av_fusion/model/aligner_model.h"
#include "av_fusion/nn/exec_context.h"
#include "av_fusion/row_queue_internal.h"

namespace av_fusion {

/// Log-mel frames in, audio tokens out, for the sound of one file. Token j belongs to frame j.
/// Tokens are computed once, when somebody wants them, and do not depend on how the frames are cut
/// into pushes. One thread at a time.
class AudioTokenStream {
 public:
  /// `model` must outlive the stream. `chunk`: frames encoded at a time.
  AudioTokenStream(const AlignerModel& model, std::int64_t chunk);

  /// Appends frames [T, mel_bands].
  void push(TensorView<const float> mel);

  /// There are no more frames.
  void finish() { finished_ = true; }

  std::int64_t frames() const noexcept { return mel_.end(); }  ///< pushed so far

  /// First token that can still be had.
  std::int64_t begin() const noexcept { return tokens_.begin(); }

  /// One after the last token that can be had now.
  std::int64_t end() const noexcept;

  /// Tokens `from` to `to`, [to - from, D]; begin() <= from < to <= end(). Valid until the next
  /// call of a function that is not const.
  TensorView<const float> tokens(ExecContext& context, std::int64_t from, std::int64_t to);

  /// Nobody will ask for tokens before `token`: those not computed yet never will be.
  void forget_before(std::int64_t token);

 private:
  void encode(ExecContext& context, const Chunk& chunk);

  const AlignerModel& model_;
  ChunkPlan plan_;
  bool finished_ = false;
  RowQueue<float> mel_;
  RowQueue<float> tokens_;
};

}  // namespace av_fusion
