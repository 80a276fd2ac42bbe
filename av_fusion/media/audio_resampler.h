// Copyright 2026 The av_fusion authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <span>

namespace av_fusion {

/// Brings mono sound of any rate to `AudioClip::kSampleRateHz`, for hosts whose sound has another
/// rate than the library. The filter is FFmpeg's and has no delay on the timeline: sample i of what
/// comes out is heard i / 16000 s after the first sample that went in. However the sound is cut
/// into pushes, the same samples come out. For one thread at a time.
class AudioResampler {
 public:
  static constexpr int kLowestRateHz = 1000, kHighestRateHz = 768'000;

  /// Throws `Error`: kInvalidArgument (rate out of range), kInternal (FFmpeg refuses it).
  explicit AudioResampler(int sample_rate_hz);
  ~AudioResampler();
  AudioResampler(AudioResampler&&) noexcept;
  AudioResampler& operator=(AudioResampler&&) noexcept;

  int sample_rate_hz() const noexcept { return sample_rate_hz_; }

  /// What `samples` complete, within `AudioClip::kLimit`; some 16 samples of the lower of the two
  /// rates wait for what comes next. Valid until the next call. Throws `Error(kInternal)`.
  std::span<const float> push(std::span<const float> samples);

  /// What still waits: in all, as long as the sound that went in, to one sample. Valid as long as
  /// the object, which takes nothing more. Throws `Error(kInternal)`.
  std::span<const float> finish();

  std::int64_t num_samples_in() const noexcept { return samples_in_; }
  std::int64_t num_samples_out() const noexcept { return samples_out_; }

 private:
  struct Impl;

  std::span<const float> hand_out(std::int64_t count);

  int sample_rate_hz_;
  std::unique_ptr<Impl> impl_;
  std::int64_t samples_in_ = 0, samples_out_ = 0;
};

}  // namespace av_fusion
