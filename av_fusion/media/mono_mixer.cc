// Copyright 2026 The av_fusion authors. SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <string>
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

// The layout, or a guess by the number of channels if it has no names.
class NamedLayout {
 public:
  explicit NamedLayout(const AVChannelLayout& given) : layout_(&given) {
    if (given.order != AV_CHANNEL_ORDER_UNSPEC) return;
    av_channel_layout_default(&guessed_, given.nb_channels);
    layout_ = &guessed_;
  }
  ~NamedLayout() { av_channel_layout_uninit(&guessed_); }
  NamedLayout(const NamedLayout&) = delete;
  NamedLayout& operator=(const NamedLayout&) = delete;

  AVChannel channel(std::size_t index) const {
    return av_channel_layout_channel_from_index(layout_, static_cast<unsigned>(index));
  }

  /// Empty if the channel has none.
  std::string name(std::size_t index) const {
    const AVChannel id = channel(index);
    const bool has_name = id >= 0 && id < AV_CHAN_UNUSED;
    char text[32] = {};
    return has_name && av_channel_name(text, sizeof(text), id) > 0 ? text : std::string();
  }

 private:
  AVChannelLayout guessed_{};
  const AVChannelLayout* layout_;
};

std::size_t count_of(const AVChannelLayout& layout) {
  return static_cast<std::size_t>(std::max(layout.nb_channels, 0));
}

// One weight for each channel, with sum 1.
void set_downmix(const AVChannelLayout& layout, std::vector<float>& weights) {
  const NamedLayout named(layout);
  weights.assign(count_of(layout), 0.0F);
  float sum = 0;
  for (std::size_t i = 0; i < weights.size(); ++i) {
    weights[i] = weight_of(named.channel(i));
    sum += weights[i];
  }
  if (sum > 0) {
    for (float& weight : weights) weight /= sum;
  } else {
    std::fill(weights.begin(), weights.end(), 1.0F / static_cast<float>(weights.size()));
  }
}

std::size_t find_name(const AVChannelLayout& layout, const std::string& name) {
  const NamedLayout named(layout);
  std::size_t i = 0;
  while (i < count_of(layout) && named.name(i) != name) ++i;
  return i;
}

// False, and no weights, if the layout lacks the channel.
bool set_weights(const AVChannelLayout& layout, const AudioChannel& channel,
                 std::vector<float>& weights) {
  using Kind = AudioChannel::Kind;
  const std::size_t count = count_of(layout);
  weights.clear();
  if (channel.kind == Kind::kNumber || channel.kind == Kind::kName) {
    const std::size_t index = channel.kind == Kind::kName
                                  ? find_name(layout, channel.name)
                                  : static_cast<std::size_t>(channel.number);
    if (channel.number < 0 || index >= count) return false;
    weights.assign(count, 0.0F);
    weights[index] = 1;
  } else if (channel.kind == Kind::kDifference) {
    if (count != 2) return false;
    weights = {0.5F, -0.5F};
  } else {
    set_downmix(layout, weights);
  }
  return true;
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
  if (!set_weights(frame.ch_layout, channel_, weights_)) {
    missed_channel_ = true;
    set_downmix(frame.ch_layout, weights_);
  }
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

std::vector<float> mix_weights(const AVChannelLayout& layout, const AudioChannel& channel) {
  std::vector<float> weights;
  set_weights(layout, channel, weights);
  return weights;
}

std::vector<AudioChannel> channels_of(const AVChannelLayout& layout) {
  using Kind = AudioChannel::Kind;
  const NamedLayout named(layout);
  std::vector<AudioChannel> channels;
  for (std::size_t i = 0; i < count_of(layout); ++i) {
    AudioChannel channel;
    channel.name = named.name(i);
    const bool is_first = !channel.name.empty() && find_name(layout, channel.name) == i;
    channel.kind = is_first ? Kind::kName : Kind::kNumber;
    if (!is_first) {
      channel.name.clear();
      channel.number = static_cast<int>(i);
    }
    channels.push_back(std::move(channel));
  }
  return channels;
}

}  // namespace av_fusion
