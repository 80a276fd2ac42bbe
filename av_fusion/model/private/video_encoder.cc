// Copyright 2026 The av_fusion authors. SPDX-License-Identifier: Apache-2.0
#include "av_fusion/model/private/video_encoder.h"

#include <algorithm>
#include <string>

#include "av_fusion/model/private/picture_stack.h"

namespace av_fusion {
namespace {

/// Pictures that go through the convolutions at once; bounds the memory for their channels.
constexpr std::int64_t kPicturesAtOnce = 32;

std::vector<Conv2d> make_convs(const ModelConfig& config, const StateDict& weights) {
  std::vector<Conv2d> convs;
  std::int64_t in_channels = 2 * config.stack_radius + 1;
  for (const std::int64_t out_channels : config.picture_channels) {
    const StateDict layer = weights.sub("convs." + std::to_string(convs.size()) + ".");
    convs.push_back(Conv2d({.weight = layer.take("weight", {out_channels, in_channels, 3, 3}),
                            .bias = layer.take("bias", {out_channels}),
                            .stride = 2,
                            .padding = 1,
                            .activation = Activation::kRelu}));
    in_channels = out_channels;
  }
  return convs;
}

/// The dilations of the blocks.
std::vector<std::int64_t> dense_blocks(const ModelConfig& config) {
  return std::vector<std::int64_t>(static_cast<std::size_t>(config.video_blocks), 1);
}

/// Numbers that the convolutions leave of a picture.
std::int64_t picture_features(const ModelConfig& config) {
  const std::int64_t shrink = config.picture_pool << config.picture_channels.size();
  return (config.mouth_height / shrink) * (config.mouth_width / shrink) *
         config.picture_channels.back();
}

/// Copies `from` [N, C] to the columns `column` ... of the rows `row` ... of `to`.
void copy_columns(TensorView<const float> from, TensorView<float> to, std::int64_t row,
                  std::int64_t column) {
  for (std::int64_t i = 0; i < from.dim(0); ++i) {
    std::copy_n(&from(i, 0), from.dim(1), &to(row + i, column));
  }
}

}  // namespace

VideoEncoder::VideoEncoder(const ModelConfig& config, const StateDict& weights)
    : config_(config),
      convs_(make_convs(config, weights)),
      picture_(make_linear(weights.sub("picture."), config.token_dim, picture_features(config),
                           Activation::kRelu)),
      lip_mean_(weights.take("lip_mean", {config.lip_features})),
      lip_scale_(weights.take("lip_scale", {config.lip_features})),
      lips_(make_linear(weights.sub("lips."), config.lip_channels, 2 * config.lip_features,
                        Activation::kGelu)),
      join_(make_linear(weights.sub("join."), config.token_dim,
                        config.token_dim + config.lip_channels)),
      encoder_(make_encoder(weights, config, dense_blocks(config), config.video_attention_width)),
      norm_(make_layer_norm(weights.sub("norm."), config.token_dim)) {}

void VideoEncoder::forward(ExecContext& context, TensorView<const std::uint8_t> crops,
                           TensorView<const float> lips, TensorView<float> tokens) const {
  const std::int64_t ticks = crops.dim(0);
  Tensor<float> joined({ticks, config_.token_dim + config_.lip_channels});
  encode_pictures(context, crops, joined.view());
  encode_lips(context, lips, joined.view());
  join_.forward(context, joined.view(), tokens);
  encoder_.forward(context, reshaped(tokens, {1, ticks, config_.token_dim}));
  norm_.forward(context, tokens, tokens);
}

void VideoEncoder::encode_pictures(ExecContext& context, TensorView<const std::uint8_t> crops,
                                   TensorView<float> joined) const {
  const std::int64_t ticks = crops.dim(0);
  const std::int64_t most = std::min(ticks, kPicturesAtOnce);
  PictureStack stack(crops, config_.picture_pool, config_.mean_radius, config_.stack_radius);

  std::vector<Tensor<float>> layers;  // the stacked pictures, then what each convolution makes
  std::int64_t height = stack.height();
  std::int64_t width = stack.width();
  layers.emplace_back(Shape{most, height, width, stack.channels()});
  for (const Conv2d& conv : convs_) {
    layers.emplace_back(Shape{most, height /= 2, width /= 2, conv.out_channels()});
  }
  Tensor<float> features({most, config_.token_dim});

  for (std::int64_t begin = 0; begin < ticks; begin += most) {
    const std::int64_t count = std::min(most, ticks - begin);
    stack.next(layers[0].view().slice(0, count));
    for (std::size_t i = 0; i < convs_.size(); ++i) {
      convs_[i].forward(context, layers[i].view().slice(0, count),
                        layers[i + 1].view().slice(0, count));
    }
    picture_.forward(context,
                     reshaped<const float>(layers.back().view(), {count, picture_.in_features()}),
                     features.view().slice(0, count));
    copy_columns(features.view().slice(0, count), joined, begin, 0);
  }
}

void VideoEncoder::encode_lips(ExecContext& context, TensorView<const float> lips,
                               TensorView<float> joined) const {
  const Tensor<float> normalised = normalised_lips(lips);
  Tensor<float> features({lips.dim(0), config_.lip_channels});
  lips_.forward(context, normalised.view(), features.view());
  copy_columns(features.view(), joined, 0, config_.token_dim);
}

/// [T, 2 G]: the lips in units of what is usual, then the same less their local mean.
Tensor<float> VideoEncoder::normalised_lips(TensorView<const float> lips) const {
  const std::int64_t ticks = lips.dim(0);
  const std::int64_t features = lips.dim(1);
  Tensor<float> result({ticks, 2 * features});
  const TensorView<float> to = result.view();
  for (std::int64_t t = 0; t < ticks; ++t) {
    for (std::int64_t g = 0; g < features; ++g) {
      to(t, g) = (lips(t, g) - lip_mean_.view()(g)) * lip_scale_.view()(g);
    }
  }
  for (std::int64_t t = 0; t < ticks; ++t) {
    const std::int64_t begin = std::max<std::int64_t>(t - config_.mean_radius, 0);
    const std::int64_t end = std::min(t + config_.mean_radius + 1, ticks);
    for (std::int64_t g = 0; g < features; ++g) {
      double sum = 0;
      for (std::int64_t near = begin; near < end; ++near) sum += static_cast<double>(to(near, g));
      const double mean = sum / static_cast<double>(end - begin);
      to(t, features + g) = static_cast<float>(static_cast<double>(to(t, g)) - mean);
    }
  }
  return result;
}

}  // namespace av_fusion
