// Copyright 2026 The av_fusion authors. SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "av_fusion/audio_token_stream_internal.h"
#include "av_fusion/core/stage_scope.h"
#include "av_fusion/core/tensor.h"

namespace av_fusion {

AudioTokenStream::AudioTokenStream(const AlignerModel& model, std::int64_t chunk)
    : model_(model),
      plan_{chunk, model.geometry().audio_past, model.geometry().audio_future},
      mel_({model.geometry().mel_bands}),
      tokens_({model.geometry().token_dim}) {}

void AudioTokenStream::push(TensorView<const float> mel) {
  expect_shape(mel.shape(), {kAny, model_.geometry().mel_bands}, "log-mel frames");
  mel_.push(mel.data(), mel.dim(0));
}

std::int64_t AudioTokenStream::end() const noexcept {
  return finished_ ? mel_.end() : std::max(tokens_.end(), mel_.end() - plan_.future);
}

TensorView<const float> AudioTokenStream::tokens(ExecContext& context, std::int64_t from,
                                                 std::int64_t to) {
  while (tokens_.end() < to) {
    // A whole chunk if the frames are there, else all that there is.
    auto chunk = plan_.next(tokens_.end(), mel_.end(), finished_);
    if (!chunk) {
      ChunkPlan shorter = plan_;
      shorter.chunk = end() - tokens_.end();
      chunk = shorter.next(tokens_.end(), mel_.end(), finished_);
    }
    encode(context, *chunk);
  }
  return tokens_.rows(from, to);
}

void AudioTokenStream::forget_before(std::int64_t token) {
  const std::int64_t first = std::min(token, mel_.end());
  if (first > tokens_.end()) {
    tokens_.restart_at(first);
  } else {
    tokens_.drop_before(first);
  }
  mel_.drop_before(plan_.first_needed(tokens_.end()));
}

void AudioTokenStream::encode(ExecContext& context, const Chunk& chunk) {
  const StageScope stage(Stage::kAudioEncoder);
  Tensor<float> encoded({chunk.context_to - chunk.context_from, model_.geometry().token_dim});
  model_.encode_audio(context, mel_.rows(chunk.context_from, chunk.context_to), encoded.view());
  const auto wanted =
      encoded.view().slice(chunk.from - chunk.context_from, chunk.to - chunk.context_from);
  tokens_.push(wanted.data(), wanted.dim(0));
  mel_.drop_before(plan_.first_needed(chunk.to));
}

}  // namespace av_fusion
