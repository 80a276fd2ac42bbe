// Copyright 2026 The av_fusion authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>

#include "av_fusion/align/alignment.h"
#include "av_fusion/aligner.h"
#include "av_fusion/core/media_time.h"
#include "av_fusion/core/tensor_view.h"
#include "av_fusion/media/audio_clip.h"
#include "av_fusion/stream_update.h"

namespace av_fusion {

/// Measures how well lips and speech line up in pictures and sound that a host already has, as they
/// come: a live feed, or a pipeline with a decoder of its own.
///
///     av_fusion::StreamAligner stream(aligner);
///     stream.push_video(time, luma);     // whenever there is a picture
///     stream.push_audio(time, samples);  // whenever there is sound
///     if (const auto offset = stream.poll().offset) ...
///     const av_fusion::Alignment whole = stream.finish();
///
/// Both times are of one clock of the host's: when a picture is shown and a sample is heard.
///
/// **Same answer as a file.** The same pictures and samples give the bits that `Aligner::align`
/// gives, however they are cut into pushes and whichever stream comes first, as long as they lie
/// less than `AlignerOptions::max_interleave` apart.
///
/// **Latency.** Measured with sound and 25 pictures a second in step and the default options: a
/// picture is judged at most 9.3 s after it was pushed (its tokens are made 8 s at a time), with
/// `Options::low_latency` 2.6 s, at about the same cost and up to rounding with the same numbers.
/// Of that, `AlignerOptions::max_offset` is 1 s.
///
/// **Memory** is that of `Aligner::align`: bounded but for the answer, which `Options::keep`
/// bounds.
///
/// **What is not in order.** A picture that is not later than the one before is dropped. Sound that
/// was heard already is dropped, sample by sample. Sound may begin up to 20 ms off the end of the
/// sound before and still follows it without a hole, so rounded and jittering times do no harm; a
/// larger hole is silence. Sound that comes more than `max_interleave` after its pictures is
/// dropped: its time was taken as silent. `StreamUpdate` counts what was dropped.
///
/// One thread at a time; several streams may share an `Aligner`.
class StreamAligner {
 public:
  struct Options {
    /// Timeline, attention and ended faces of the answer that are older than this are forgotten;
    /// the offsets still rest on all evidence. Absent: everything is kept (some 150 bytes for each
    /// fifth of a second of each face). At least `AlignerOptions::window`.
    std::optional<MediaDuration> keep;
    bool low_latency = false;
    /// Of the sound that is pushed, `AudioResampler::kLowestRateHz` to `kHighestRateHz`.
    int sample_rate_hz = AudioClip::kSampleRateHz;
  };

  /// `aligner` must outlive the stream. Its options count, but for the part to analyse, the streams
  /// and the callbacks. Throws `Error`: kInvalidArgument (`keep` too short, a rate out of range),
  /// and what loading the face model throws.
  explicit StreamAligner(const Aligner& aligner);
  StreamAligner(const Aligner& aligner, const Options& options);
  ~StreamAligner();
  StreamAligner(StreamAligner&&) noexcept;
  StreamAligner& operator=(StreamAligner&&) noexcept;

  /// `luma` [height, width]: an upright picture with square pixels, 0 = black to 255 = white;
  /// copied. Throws `Error`: kInvalidArgument (after `finish`; not two axes), kUnsupported (sound
  /// lay so far ahead of its pictures that it had to be forgotten), kCorruptData (times that span
  /// more than a week).
  void push_video(MediaTime time, TensorView<const std::uint8_t> luma);

  /// `samples`: mono, of `Options::sample_rate_hz`, nominally -1 to 1; copied. What is not finite
  /// counts as 0. `time`: of the first one. Throws as `push_video`.
  void push_audio(MediaTime time, std::span<const float> samples);

  /// What is known so far. Costs little.
  StreamUpdate poll() const;

  /// Ends the stream and returns what `Aligner::align` would have returned. Throws
  /// `Error(kInvalidArgument)` the second time.
  Alignment finish();

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace av_fusion
