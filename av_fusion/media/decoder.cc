// Copyright 2026 The av_fusion authors. SPDX-License-Identifier: Apache-2.0
#include "av_fusion/core/error.h"
#include "av_fusion/media/decoder_internal.h"

namespace av_fusion {
namespace {

// Added to the level of each remark: above every log level, within the low byte that FFmpeg keeps.
constexpr int kSilence = 100;
constexpr int kMaxErrorsInARow = 64;  // of one packet, against decoders that never end
constexpr std::int64_t kMaxSamples = std::int64_t{1} << 22;  // of a frame, in each channel

}  // namespace

Decoder::Decoder(const AVStream& stream, int threads, const Limits& limits, const std::string& name,
                 Quality quality)
    : name_(name),
      place_("stream " + std::to_string(stream.index) + ": "),
      memory_(std::make_unique<FrameMemory>(limits.frame_bytes)),
      frame_(own(av_frame_alloc())) {
  const AVCodec* kind = avcodec_find_decoder(stream.codecpar->codec_id);
  if (kind == nullptr) {
    throw Error(
        ErrorCode::kUnsupported, name_,
        place_ + "this FFmpeg has no decoder for " + avcodec_get_name(stream.codecpar->codec_id));
  }
  codec_ = own(avcodec_alloc_context3(kind));
  codec_->log_level_offset = kSilence;
  int result = avcodec_parameters_to_context(codec_.get(), stream.codecpar);
  codec_->pkt_timebase = stream.time_base;
  codec_->thread_count = threads;
  if (quality == Quality::kDraft) codec_->skip_loop_filter = AVDISCARD_NONREF;
  codec_->max_pixels = limits.max_pixels;
  codec_->max_samples = kMaxSamples;
  memory_->attach(*codec_);
  if (result >= 0) result = avcodec_open2(codec_.get(), kind, nullptr);
  if (result < 0) {
    throw Error(
        ErrorCode::kUnsupported, name_,
        place_ + "the " + kind->name + " decoder cannot be opened: " + ffmpeg_words(result));
  }
}

void Decoder::decode(const AVPacket* packet, const OnFrame& on_frame) {
  for (int tries = 0; tries < kMaxErrorsInARow; ++tries) {
    const int result = avcodec_send_packet(codec_.get(), packet);
    if (result == AVERROR(ENOMEM)) throw std::bad_alloc();
    if (result < 0 && result != AVERROR(EAGAIN) && result != AVERROR_EOF) ++errors_;
    drain(on_frame);
    refuse_large_frames();
    if (result != AVERROR(EAGAIN)) return;
  }
}

void Decoder::refuse_large_frames() const {
  if (!memory_->exceeded()) return;
  throw Error(ErrorCode::kUnsupported, name_,
              place_ + "decoding needs more than " + std::to_string(memory_->limit_bytes() >> 20) +
                  " MiB for pictures or sound at a time, too much for a file of this size");
}

void Decoder::drain(const OnFrame& on_frame) {
  for (int errors = 0; errors < kMaxErrorsInARow;) {
    const int result = avcodec_receive_frame(codec_.get(), frame_.get());
    if (result == AVERROR(EAGAIN) || result == AVERROR_EOF) return;
    if (result == AVERROR(ENOMEM)) throw std::bad_alloc();
    if (result < 0) {
      ++errors_;
      ++errors;
      continue;
    }
    on_frame(*frame_);
    av_frame_unref(frame_.get());
  }
}

}  // namespace av_fusion
