// Copyright 2026 The av_fusion authors. SPDX-License-Identifier: Apache-2.0
#include "av_fusion/model/aligner_model.h"

#include <string_view>
#include <utility>

#include "av_fusion/core/error.h"
#include "av_fusion/model/private/audio_encoder.h"
#include "av_fusion/model/private/fusion.h"
#include "av_fusion/model/private/model_metadata.h"
#include "av_fusion/model/private/video_encoder.h"
#include "av_fusion/nn/state_dict.h"
#include "av_fusion/nn/weights_file.h"

namespace av_fusion {
namespace {

/// Keeps the arithmetic on key positions far from overflow; 2^40 frames are 348 years of sound.
constexpr std::int64_t kMaxPosition = std::int64_t{1} << 40;
constexpr std::int64_t kMaxWidth = std::int64_t{1} << 20;

template <typename T>
void expect(TensorView<T> view, const Shape& shape, std::string_view name) {
  expect_shape(view.shape(), shape, name);
  if (!view.is_dense()) {
    throw Error(ErrorCode::kInvalidArgument, name, "the view is not dense");
  }
}

}  // namespace

class AlignerModel::Impl {
 public:
  explicit Impl(const WeightsFile& file) : Impl(read_model_metadata(file), StateDict(file)) {}

  const Info info;
  const Geometry geometry;
  const Calibration calibration;
  const VideoEncoder video;
  const AudioEncoder audio;
  const Fusion fusion;

 private:
  Impl(const ModelMetadata& metadata, const StateDict& weights)
      : info(metadata.info),
        geometry(geometry_of(metadata.config)),
        calibration(metadata.calibration),
        video(metadata.config, weights.sub("video.")),
        audio(metadata.config, weights.sub("audio.")),
        fusion(metadata.config, weights) {
    weights.expect_all_taken();
  }
};

AlignerModel::AlignerModel(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
AlignerModel::~AlignerModel() = default;
AlignerModel::AlignerModel(AlignerModel&&) noexcept = default;
AlignerModel& AlignerModel::operator=(AlignerModel&&) noexcept = default;

AlignerModel AlignerModel::load(const std::filesystem::path& file) {
  return AlignerModel(std::make_unique<Impl>(WeightsFile::open(file)));
}

AlignerModel AlignerModel::load(std::span<const std::byte> bytes, const std::string& name) {
  return AlignerModel(std::make_unique<Impl>(WeightsFile::from_bytes(bytes, name)));
}

const AlignerModel::Info& AlignerModel::info() const noexcept { return impl_->info; }
const AlignerModel::Geometry& AlignerModel::geometry() const noexcept { return impl_->geometry; }
const AlignerModel::Calibration& AlignerModel::calibration() const noexcept {
  return impl_->calibration;
}

void AlignerModel::encode_video(ExecContext& context, TensorView<const std::uint8_t> crops,
                                TensorView<const float> lips, TensorView<float> tokens) const {
  const Geometry& g = geometry();
  expect(crops, {kAny, g.mouth_height, g.mouth_width}, "mouth crops");
  const std::int64_t ticks = crops.dim(0);
  expect(lips, {ticks, g.lip_features}, "lip geometry");
  expect(tokens, {ticks, g.token_dim}, "video tokens");
  if (ticks > 0) impl_->video.forward(context, crops, lips, tokens);
}

void AlignerModel::encode_audio(ExecContext& context, TensorView<const float> mel,
                                TensorView<float> tokens) const {
  const Geometry& g = geometry();
  expect(mel, {kAny, g.mel_bands}, "log-mel frames");
  expect(tokens, {mel.dim(0), g.token_dim}, "audio tokens");
  if (mel.dim(0) > 0) impl_->audio.forward(context, mel, tokens);
}

void AlignerModel::fuse(ExecContext& context, TensorView<const float> video,
                        TensorView<const float> audio, std::int64_t first_key, std::int64_t width,
                        TensorView<float> lag_logits, TensorView<float> head_weights,
                        TensorView<float> speaking_logits) const {
  const Geometry& g = geometry();
  if (width < 0 || width > kMaxWidth) {
    throw Error(ErrorCode::kInvalidArgument, "fuse",
                "width is " + std::to_string(width) + ", not 0 to " + std::to_string(kMaxWidth));
  }
  if (first_key < -kMaxPosition || first_key > kMaxPosition) {
    throw Error(ErrorCode::kInvalidArgument, "fuse",
                "first_key is " + std::to_string(first_key) + ", out of range");
  }
  expect(video, {kAny, g.token_dim}, "video tokens");
  expect(audio, {kAny, g.token_dim}, "audio tokens");
  const std::int64_t ticks = video.dim(0);
  const BandMask band{.stride = g.audio_per_video, .offset = first_key, .width = width};
  expect(lag_logits, {ticks, band.num_lags()}, "lag logits");
  expect(head_weights, {ticks, g.num_heads, band.num_lags()}, "head weights");
  expect(speaking_logits, {ticks}, "speaking logits");
  if (ticks == 0) return;
  const Fusion::Outputs outputs{lag_logits, head_weights, speaking_logits};
  if (audio.dim(0) == 0) {
    // No sound at all is sound that nobody hears: one token, outside every band.
    const Tensor<float> silence({1, g.token_dim});
    impl_->fusion.forward(context, video, silence.view(),
                          {.stride = band.stride, .offset = width + 1, .width = width}, outputs);
    return;
  }
  impl_->fusion.forward(context, video, audio, band, outputs);
}

}  // namespace av_fusion
