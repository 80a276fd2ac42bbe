// Copyright 2026 The av_fusion authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <vector>

namespace av_fusion {

/// Measures how much a sound rises and falls as speech does, to compare channels of one recording.
///
/// The intensity of speech changes in the rhythm of its syllables, 2 to 8 times a second, and
/// anything added to it makes these changes shallower; the speech transmission index (IEC 60268-16)
/// and the "4 Hz modulation energy" that tells speech from music (Scheirer and Slaney 1997) rest on
/// that. Here, in the octave bands at 250 Hz to 4 kHz: the cube root of the power of every 10 ms
/// (about the loudness), over its mean; its spectrum from 2 to 8 Hz, and the geometric mean over
/// these frequencies. The geometric mean is small if only a few frequencies stand out, as the beat
/// of music does; the rhythm of speech is spread over all of them.
///
/// Typical: clean speech -5 to -10 dB; speech with as much music or noise -12 to -20 dB; music and
/// noise alone -19 dB and less. A drum solo without a steady beat looks like speech.
class SpeechMeter {
 public:
  static constexpr int kFrameMs = 10;
  static constexpr std::size_t kMaxFrames = 6000;  ///< what comes later is not looked at

  /// Takes the next samples at 16 kHz; how they are cut does not matter.
  void add(std::span<const float> samples);

  std::size_t frames() const { return frames_.size(); }

  /// Whether frame `i` is louder than -60 dB of full scale in the bands together.
  bool sounds(std::size_t i) const;

  /// Mean power of the frames from `first` on, the bands together; 0 if there are none.
  double power(std::size_t first) const;

  /// The share of the frames from `first` on that are at most 30 dB below the loudest.
  double loud_share(std::size_t first) const;

  /// The measure in dB over the frames from `first` on; `kNone` for silence or under a second.
  double speech_db(std::size_t first) const;

  static constexpr double kNone = -1000;

 private:
  static constexpr std::size_t kBands = 5;
  using Bands = std::array<double, kBands>;

  struct Filter {
    double x1 = 0;
    double x2 = 0;
    double y1 = 0;
    double y2 = 0;
  };

  static double sum(const Bands& frame);
  double band_power(std::size_t band, std::size_t first) const;
  double modulation_db(std::size_t band, std::size_t first) const;

  std::array<Filter, kBands> filters_;
  Bands sums_{};
  int count_ = 0;              // samples in sums_
  std::vector<Bands> frames_;  // mean square of each band
};

}  // namespace av_fusion
