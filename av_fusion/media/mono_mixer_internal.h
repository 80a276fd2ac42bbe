// Copyright 2026 The av_fusion authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <utility>
#include <vector>

#include "av_fusion/media/audio_channel.h"
#include "av_fusion/media/ffmpeg_util_internal.h"

namespace av_fusion {

/// Mixes decoded sound of any sample format and channel layout to mono floats.
///
/// Weights of the down-mix as in ITU-R BS.775-3, annex 4, added to one channel: centre 1, left and
/// right 0.7071, all others 0.5, no low-frequency effects; divided by their sum. A layout without
/// names is guessed from the number of channels, else all channels weigh the same. Samples that are
/// not finite become 0; values are limited to -8 .. 8.
class MonoMixer {
 public:
  /// `channel`: what is mixed; not automatic.
  explicit MonoMixer(AudioChannel channel = {.kind = AudioChannel::Kind::kDownmix})
      : channel_(std::move(channel)) {}

  /// One sample for each of the frame's; empty for an unknown sample format. The down-mix if the
  /// frame lacks the channel. Valid until the next call.
  std::span<const float> mix(const AVFrame& frame);

  /// A frame lacked the channel.
  bool missed_channel() const { return missed_channel_; }

 private:
  AudioChannel channel_;
  std::vector<float> weights_;
  std::vector<float> mixed_;
  bool missed_channel_ = false;
};

/// One weight for each channel of `layout`; none if `channel` is not in it. `channel` is not
/// automatic.
std::vector<float> mix_weights(const AVChannelLayout& layout, const AudioChannel& channel);

/// The channels of `layout`: by name, or by number those that have no name.
std::vector<AudioChannel> channels_of(const AVChannelLayout& layout);

}  // namespace av_fusion
