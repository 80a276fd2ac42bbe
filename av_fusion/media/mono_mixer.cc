// Copyright 2026 The av_fusion authors. SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <type_traits>

#include "av_fusion/media/audio_clip.h"
#include "av_fusion/media/mono_mixer_internal.h"

namespace av_fusion {
namespace {

constexpr float kLimit = AudioClip::kLimit;

float weight_of(AVChannel channel) {
  switch (channel) {
    case AV_CHAN_FRONT_CENTER:
    case AV_CHAN_AMBISONIC_BASE: return 1.0F;
    case AV_CHAN_FRONT_LEFT:
    case AV_CHAN_FRONT_RIGHT:
    case AV_CHAN_STEREO_LEFT:
    case AV_CHAN_STEREO_RIGHT: return 0.70710678F;
    case AV_CHAN_LOW_FREQUENCY:
    case AV_CHAN_LOW_FREQUENCY_2: return 0.0F;
    default: break;
  }
  const bool directional = channel > AV_CHAN_AMBISONIC_BASE && channel <= AV_CHAN_AMBISONIC_END;
  return directional || channel < 0 ? 0.0F : 0.5F;
}

// One weight for each channel, with sum 1.
void compute_weights(const AVChannelLayout& given, std::vector<float>& weights) {
  const auto count = static_cast<std::size_t>(std::max(given.nb_channels, 0));
  AVChannelLayout guessed{};
  const bool unnamed = given.order == AV_CHANNEL_ORDER_UNSPEC;
  if (unnamed) av_channel_layout_default(&guessed, given.nb_channels);
  const AVChannelLayout& layout = unnamed ? guessed : given;
  weights.assign(count, 0.0F);
  float sum = 0;
  for (std::size_t i = 0; i < count; ++i) {
    weights[i] = weight_of(av_channel_layout_channel_from_index(&layout, static_cast<unsigned>(i)));
    sum += weights[i];
  }
  av_channel_layout_uninit(&guessed);
  if (sum > 0) {
    for (float& weight : weights) weight /= sum;
  } else {
    std::fill(weights.begin(), weights.end(), 1.0F / static_cast<float>(count));
  }
}

template <typename T>
float to_float(T sample) {
  if constexpr (std::is_floating_point_v<T>) {
    if (!std::isfinite(sample)) return 0.0F;
    return static_cast<float>(std::clamp(sample, T{-kLimit}, T{kLimit}));
  } else if constexpr (std::is_same_v<T, std::uint8_t>) {
    return (static_cast<float>(sample) - 128.0F) * (1.0F / 128.0F);
  } else {
    constexpr int kBits = 8 * sizeof(T) - 1;
    return static_cast<float>(std::ldexp(static_cast<double>(sample), -kBits));
  }
}

template <typename T>
void add_channel(const void* data, int first, int step, float weight, std::span<float> mixed) {
  const T* in = static_cast<const T*>(data) + first;
  for (float& sum : mixed) {
    sum += weight * to_float(*in);
    in += step;
  }
}

using AddChannel = void (*)(const void*, int, int, float, std::span<float>);

AddChannel adder_of(AVSampleFormat packed) {
  switch (packed) {
    case AV_SAMPLE_FMT_U8: return &add_channel<std::uint8_t>;
    case AV_SAMPLE_FMT_S16: return &add_channel<std::int16_t>;
    case AV_SAMPLE_FMT_S32: return &add_channel<std::int32_t>;
    case AV_SAMPLE_FMT_S64: return &add_channel<std::int64_t>;
    case AV_SAMPLE_FMT_FLT: return &add_channel<float>;
    case AV_SAMPLE_FMT_DBL: return &add_channel<double>;
    default: return nullptr;
  }
}

}  // namespace

std::span<const float> MonoMixer::mix(const AVFrame& frame) {
  const auto format = static_cast<AVSampleFormat>(frame.format);
  const AddChannel add = adder_of(av_get_packed_sample_fmt(format));
  const int channels = frame.ch_layout.nb_channels;
  if (add == nullptr || channels <= 0 || frame.nb_samples <= 0) return {};
  compute_weights(frame.ch_layout, weights_);
  mixed_.assign(static_cast<std::size_t>(frame.nb_samples), 0.0F);
  const bool planar = av_sample_fmt_is_planar(format) != 0;
  for (int channel = 0; channel < channels; ++channel) {
    const float weight = weights_[static_cast<std::size_t>(channel)];
    if (weight == 0) continue;
    if (planar) {
      add(frame.extended_data[channel], 0, 1, weight, mixed_);
    } else {
      add(frame.extended_data[0], channel, channels, weight, mixed_);
    }
  }
  return mixed_;
}

}  // namespace av_fusion
