// Copyright 2026 The av_fusion authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace av_fusion {

/// Which part of a sound with several channels is listened to. A plain value.
struct AudioChannel {
  enum class Kind {
    kAutomatic,   ///< the down-mix, unless another part clearly holds the speech: see `MediaReader`
    kDownmix,     ///< all channels
    kDifference,  ///< half of the first channel less the second; of sound with two channels only
    kNumber,      ///< channel `number`
    kName,        ///< the channel called `name`
  };

  Kind kind = Kind::kAutomatic;
  int number = 0;         ///< from 0, in the order of the decoder
  std::string name = {};  ///< as FFmpeg writes it, for example "FC"

  /// Reads "auto", "downmix", "difference", a number or a name, in capital or small letters. Throws
  /// `Error(kInvalidArgument)` for what cannot be any of these; whether there is such a channel
  /// only a reader knows.
  static AudioChannel parse(std::string_view text);

  /// What `parse` reads.
  std::string to_string() const;

  bool operator==(const AudioChannel&) const = default;
};

}  // namespace av_fusion
