// Copyright 2026 The av_fusion authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "av_fusion/media/audio_channel.h"
#include "av_fusion/media/ffmpeg_util_internal.h"

namespace av_fusion {

/// Finds out from a piece of sound which of its channels to listen to.
///
/// Compares the down-mix, each of the first 16 channels, and of two channels their difference, by
/// `SpeechMeter`. The down-mix stays unless it cancels out (its power is under a tenth of what
/// independent channels would give), or one of these holds speech and beats it: the centre by 2 dB;
/// the difference by 8 dB; another channel by 4 dB, if none that would be left out holds speech as
/// well (two people with a microphone each). What is over 30 dB below the loudest channel is never
/// taken. The difference goes before a single channel that is less than 2 dB better.
class ChannelChoice {
 public:
  struct Answer {
    AudioChannel channel;  ///< never automatic
    bool cancels = false;  ///< the down-mix cancels out
  };

  ChannelChoice();
  ~ChannelChoice();
  ChannelChoice(const ChannelChoice&) = delete;
  ChannelChoice& operator=(const ChannelChoice&) = delete;

  /// Takes the next frame; those of another layout or rate than the first are passed over. Throws
  /// `Error(kInternal)`.
  void add(const AVFrame& frame);

  /// 20 s with sound, or 60 s in all, have been looked at.
  bool enough() const;

  /// The down-mix if there was too little sound to tell.
  Answer answer();

 private:
  struct Part;

  void begin(const AVFrame& frame);

  AVChannelLayout layout_{};
  int rate_hz_ = 0;
  std::vector<std::unique_ptr<Part>> parts_;  // the down-mix, the channels, the difference
  std::size_t counted_ = 0;                   // frames of 10 ms
  std::size_t sounding_ = 0;                  // of these
};

/// The channel that was asked for, checked against the layout and called by its name if it has one.
/// Throws `Error(kNotFound)` with the list of channels.
AudioChannel check_channel(const AVChannelLayout& layout, const AudioChannel& asked,
                           const std::string& name);

}  // namespace av_fusion
