// Copyright 2026 The av_fusion authors. SPDX-License-Identifier: Apache-2.0
#include "av_fusion/media/audio_resampler.h"

#include <algorithm>
#include <string>
#include <vector>

#include "av_fusion/core/error.h"
#include "av_fusion/media/audio_clip.h"
#include "av_fusion/media/ffmpeg_util_internal.h"

namespace av_fusion {
namespace {

constexpr const char* kContext = "resampler";
constexpr int kOutRate = AudioClip::kSampleRateHz;

FfmpegPtr<SwrContext> make_resampler(int rate_hz) {
  AVChannelLayout mono = AV_CHANNEL_LAYOUT_MONO;
  SwrContext* context = nullptr;
  const int result = swr_alloc_set_opts2(&context, &mono, AV_SAMPLE_FMT_FLT, kOutRate, &mono,
                                         AV_SAMPLE_FMT_FLT, rate_hz, 0, nullptr);
  FfmpegPtr<SwrContext> resampler(context);
  if (result < 0 || swr_init(context) < 0) {
    throw Error(ErrorCode::kInternal, kContext,
                "FFmpeg refuses " + std::to_string(rate_hz) + " Hz");
  }
  return resampler;
}

}  // namespace

struct AudioResampler::Impl {
  FfmpegPtr<SwrContext> filter;  // null: the rate is right already
  std::vector<float> out;

  /// Room for what `samples` complete.
  int make_room(std::size_t samples) {
    const int room = swr_get_out_samples(filter.get(), static_cast<int>(samples));
    out.resize(static_cast<std::size_t>(std::max(room, 0)));
    return room;
  }

  std::int64_t convert(const float* samples, std::size_t count) {
    const int room = make_room(count);
    auto* to = reinterpret_cast<std::uint8_t*>(out.data());
    auto* from = reinterpret_cast<const std::uint8_t*>(samples);
    const int made = swr_convert(filter.get(), &to, room, samples == nullptr ? nullptr : &from,
                                 static_cast<int>(count));
    if (made < 0) throw Error(ErrorCode::kInternal, kContext, ffmpeg_words(made));
    return made;
  }
};

AudioResampler::AudioResampler(int sample_rate_hz)
    : sample_rate_hz_(sample_rate_hz), impl_(std::make_unique<Impl>()) {
  if (sample_rate_hz < kLowestRateHz || sample_rate_hz > kHighestRateHz) {
    throw Error(ErrorCode::kInvalidArgument, kContext,
                "the rate must be from " + std::to_string(kLowestRateHz) + " to " +
                    std::to_string(kHighestRateHz) + " Hz, got " + std::to_string(sample_rate_hz));
  }
  if (sample_rate_hz != kOutRate) impl_->filter = make_resampler(sample_rate_hz);
}

AudioResampler::~AudioResampler() = default;
AudioResampler::AudioResampler(AudioResampler&&) noexcept = default;
AudioResampler& AudioResampler::operator=(AudioResampler&&) noexcept = default;

// swresample's filter is centred: its output sample k belongs to the time of input sample
// k * rate / 16000, and what it still holds (swr_get_delay) comes out later, not shifted.
std::span<const float> AudioResampler::push(std::span<const float> samples) {
  samples_in_ += std::ssize(samples);
  if (samples.empty()) return {};
  if (impl_->filter != nullptr) return hand_out(impl_->convert(samples.data(), samples.size()));
  impl_->out.assign(samples.begin(), samples.end());
  return hand_out(std::ssize(samples));
}

std::span<const float> AudioResampler::finish() {
  if (impl_->filter == nullptr) return {};
  const std::int64_t all = av_rescale_rnd(samples_in_, kOutRate, sample_rate_hz_, AV_ROUND_UP);
  return hand_out(std::clamp<std::int64_t>(all - samples_out_, 0, impl_->convert(nullptr, 0)));
}

std::span<const float> AudioResampler::hand_out(std::int64_t count) {
  samples_out_ += count;
  const std::span<float> samples(impl_->out.data(), static_cast<std::size_t>(count));
  for (float& sample : samples) {  // the filter overshoots
    sample = std::clamp(sample, -AudioClip::kLimit, AudioClip::kLimit);
  }
  return samples;
}

}  // namespace av_fusion
