// Copyright 2026 The av_fusion authors. SPDX-License-Identifier: Apache-2.0
#include "av_fusion/core/stage_scope.h"
#include "av_fusion/core/tensor.h"
#include "av_fusion/video_token_stream_internal.h"

namespace av_fusion {

VideoTokenStream::VideoTokenStream(const AlignerModel& model, std::int64_t chunk)
    : model_(model),
      plan_{chunk, model.geometry().video_past, model.geometry().video_future},
      crops_({model.geometry().mouth_height, model.geometry().mouth_width}),
      lips_({model.geometry().lip_features}),
      tokens_({model.geometry().token_dim}) {}

void VideoTokenStream::push(ExecContext& context, TensorView<const std::uint8_t> crops,
                            TensorView<const float> lips) {
  const AlignerModel::Geometry& geometry = model_.geometry();
  expect_shape(crops.shape(), {kAny, geometry.mouth_height, geometry.mouth_width}, "mouth crops");
  expect_shape(lips.shape(), {crops.dim(0), geometry.lip_features}, "lip geometry");
  crops_.push(crops.data(), crops.dim(0));
  lips_.push(lips.data(), lips.dim(0));
  encode(context, false);
}

void VideoTokenStream::finish(ExecContext& context) { encode(context, true); }

void VideoTokenStream::encode(ExecContext& context, bool at_end) {
  while (const auto chunk = plan_.next(tokens_.end(), crops_.end(), at_end)) {
    const StageScope stage(Stage::kVideoEncoder);
    Tensor<float> encoded({chunk->context_to - chunk->context_from, model_.geometry().token_dim});
    model_.encode_video(context, crops_.rows(chunk->context_from, chunk->context_to),
                        lips_.rows(chunk->context_from, chunk->context_to), encoded.view());
    const auto wanted =
        encoded.view().slice(chunk->from - chunk->context_from, chunk->to - chunk->context_from);
    tokens_.push(wanted.data(), wanted.dim(0));
    crops_.drop_before(plan_.first_needed(chunk->to));
    lips_.drop_before(plan_.first_needed(chunk->to));
  }
}

}  // namespace av_fusion
