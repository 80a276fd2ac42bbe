// Copyright 2026 The av_fusion authors. SPDX-License-Identifier: Apache-2.0
#include "av_fusion/stream_aligner.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <utility>
#include <vector>

#include "av_fusion/align_session_internal.h"
#include "av_fusion/core/error.h"
#include "av_fusion/core/tensor_pool.h"
#include "av_fusion/media/audio_resampler.h"

namespace av_fusion {
namespace {

constexpr MediaDuration kJitter = MediaDuration::from_ms(20);

/// How long so many samples last, to the nearest microsecond.
MediaDuration length_of(std::int64_t samples, std::int64_t rate_hz) {
  return {(samples * 1'000'000 + rate_hz / 2) / rate_hz};
}

/// The number of samples that fill `length`, to the nearest; 0 if it is not positive.
std::int64_t samples_in(MediaDuration length, std::int64_t rate_hz) {
  return length.us <= 0 ? 0 : (length.us * rate_hz + 500'000) / 1'000'000;
}

float clean(float sample) {
  return std::isfinite(sample) ? std::clamp(sample, -AudioClip::kLimit, AudioClip::kLimit) : 0.0F;
}

}  // namespace

class StreamAligner::Impl {
 public:
  Impl(const Aligner& aligner, const Options& options)
      : session_(aligner.open_session(options.low_latency, options.keep)),
        rate_hz_(options.sample_rate_hz),
        resampler_(rate_hz_) {}

  void push_video(MediaTime time, TensorView<const std::uint8_t> luma) {
    check_open();
    if (luma.shape().rank() != 2 || luma.shape().num_elements() == 0) {
      throw Error(ErrorCode::kInvalidArgument, "stream",
                  "a picture must be [height, width], got " + luma.shape().to_string());
    }
    if (last_picture_ && time <= *last_picture_) {
      ++pictures_dropped_;
      return;
    }
    VideoFrame frame{time, pictures_.take({luma.dim(0), luma.dim(1)})};
    std::uint8_t* out = frame.luma.data();
    for (std::int64_t y = 0; y < luma.dim(0); ++y) {
      for (std::int64_t x = 0; x < luma.dim(1); ++x) *out++ = luma(y, x);
    }
    begin(time);
    last_picture_ = time;
    session_->push(std::move(frame));
  }

  void push_audio(MediaTime time, std::span<const float> samples) {
    check_open();
    if (samples.empty()) return;
    begin(time);
    const MediaTime end = has_sound() ? sound_end() : time;
    const bool follows = time - end < kJitter && end - time < kJitter;
    const MediaTime start = follows ? end : time;
    // What lies before was heard already, or its time was taken as silent.
    const MediaTime wanted = std::max(end, session_->silent_until().value_or(end));
    const std::int64_t skip = std::min(samples_in(wanted - start, rate_hz_), std::ssize(samples));
    samples_dropped_ += skip;
    hear(std::max(start, wanted), samples.subspan(static_cast<std::size_t>(skip)));
  }

  StreamUpdate poll() const {
    StreamUpdate update;
    update.pictures_dropped = pictures_dropped_;
    update.samples_dropped = samples_dropped_;
    if (finished_) return update;
    update.tracks = session_->tracks();
    for (const TrackState& track : update.tracks) {
      update.judged_until = std::max(update.judged_until.value_or(track.last), track.last);
      if (!track.recent) continue;
      if (!update.offset || track.recent->confidence > update.offset->confidence) {
        update.offset = track.recent;
      }
    }
    return update;
  }

  Alignment finish() {
    check_open();
    finished_ = true;
    end_run();
    AlignSession::Ending ending;
    ending.has_video = last_picture_.has_value();
    ending.has_audio = has_sound();
    ending.origin = origin_.value_or(MediaTime{});
    ending.samples = heard_;
    session_->close(ending);
    FileEvidence& evidence = session_->evidence();
    return evidence.builder.finish(evidence.context);
  }

 private:
  void check_open() const {
    if (!finished_) return;
    throw Error(ErrorCode::kInvalidArgument, "stream", "it was finished");
  }

  void begin(MediaTime time) { origin_ = std::min(origin_.value_or(time), time); }

  bool has_sound() const { return run_start_.has_value(); }

  /// Only if `has_sound`.
  MediaTime sound_end() const {
    return *run_start_ + length_of(resampler_.num_samples_in(), rate_hz_);
  }

  /// Takes new samples on, those of `time` first. Times count from where the run without a hole
  /// began, so that they do not depend on how it was cut.
  void hear(MediaTime time, std::span<const float> samples) {
    if (samples.empty()) return;
    if (!has_sound() || time != sound_end()) {
      end_run();
      run_start_ = time;
      resampler_ = AudioResampler(rate_hz_);
    }
    const auto longest = static_cast<std::size_t>(rate_hz_);
    std::vector<float> piece;
    for (std::size_t from = 0; from < samples.size(); from += longest) {
      piece.resize(std::min(longest, samples.size() - from));
      std::transform(samples.begin() + std::ptrdiff_t(from),
                     samples.begin() + std::ptrdiff_t(from + piece.size()), piece.begin(), clean);
      const std::int64_t index = resampler_.num_samples_out();
      hand_on(index, resampler_.push(piece));
    }
  }

  /// What the resampler still holds belongs to the run that ends, unless that was given up.
  void end_run() {
    if (!has_sound()) return;
    if (sound_end() <= session_->silent_until().value_or(*run_start_)) return;
    const std::int64_t index = resampler_.num_samples_out();
    hand_on(index, resampler_.finish());
  }

  /// `index`: of the first of `samples` in its run.
  void hand_on(std::int64_t index, std::span<const float> samples) {
    if (samples.empty()) return;
    heard_ += std::ssize(samples);
    session_->push(AudioClip{*run_start_ + length_of(index, AudioClip::kSampleRateHz),
                             {samples.begin(), samples.end()}});
  }

  std::unique_ptr<AlignSession> session_;
  int rate_hz_;
  AudioResampler resampler_;  // of the sound since the last hole
  bool finished_ = false;
  std::optional<MediaTime> origin_;
  TensorPool<std::uint8_t> pictures_;
  std::optional<MediaTime> last_picture_;
  std::optional<MediaTime> run_start_;  // of the sound since the last hole
  std::int64_t heard_ = 0;              // samples of the whole stream, resampled
  std::int64_t pictures_dropped_ = 0;
  std::int64_t samples_dropped_ = 0;
};

StreamAligner::StreamAligner(const Aligner& aligner) : StreamAligner(aligner, Options()) {}
StreamAligner::StreamAligner(const Aligner& aligner, const Options& options)
    : impl_(std::make_unique<Impl>(aligner, options)) {}
StreamAligner::~StreamAligner() = default;
StreamAligner::StreamAligner(StreamAligner&&) noexcept = default;
StreamAligner& StreamAligner::operator=(StreamAligner&&) noexcept = default;

void StreamAligner::push_video(MediaTime time, TensorView<const std::uint8_t> luma) {
  impl_->push_video(time, luma);
}

void StreamAligner::push_audio(MediaTime time, std::span<const float> samples) {
  impl_->push_audio(time, samples);
}

StreamUpdate StreamAligner::poll() const { return impl_->poll(); }

Alignment StreamAligner::finish() { return impl_->finish(); }

}  // namespace av_fusion
