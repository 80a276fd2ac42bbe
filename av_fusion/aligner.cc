// Copyright 2026 The av_fusion authors. SPDX-License-Identifier: Apache-2.0
#include "av_fusion/aligner.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <exception>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

#include "av_fusion/align_session_internal.h"
#include "av_fusion/core/error.h"
#include "av_fusion/core/stage_clock.h"
#include "av_fusion/core/stage_scope.h"
#include "av_fusion/features/face_landmarker.h"
#include "av_fusion/features/log_mel.h"
#include "av_fusion/features/mouth_cropper.h"
#include "av_fusion/features/mouth_track_extractor.h"
#include "av_fusion/features/opencv_version.h"
#include "av_fusion/file_feed_internal.h"
#include "av_fusion/media/ffmpeg_version.h"
#include "av_fusion/media/media_reader.h"
#include "av_fusion/model/aligner_model.h"
#include "av_fusion/nn/onednn_version.h"

namespace av_fusion {
namespace {

void check_range(MediaDuration value, double low_s, double high_s, const char* name) {
  if (value >= MediaDuration::from_seconds(low_s) && value <= MediaDuration::from_seconds(high_s)) {
    return;
  }
  throw Error(ErrorCode::kInvalidArgument, std::string("aligner option ") + name,
              std::to_string(value.us) + " us is out of range");
}

void check(const AlignerOptions& options) {
  constexpr double kAnyS = 1e9;
  check_range(options.max_offset, 0.1, 10, "max_offset");
  check_range(options.window, 0.2, 600, "window");
  check_range(options.hop, 0.04, 600, "hop");
  check_range(options.start.value_or(MediaDuration{}), 0, kAnyS, "start");
  check_range(options.duration.value_or(MediaDuration{1}), 1e-6, kAnyS, "duration");
  check_range(options.max_interleave, 1, 3600, "max_interleave");
  if (options.threads < 1 || options.threads > 256) {
    throw Error(ErrorCode::kInvalidArgument, "aligner option threads", "1 to 256 is allowed");
  }
}

/// A model is fed by the features room, which has one way to cut mouths and to hear.
void check_geometry(const AlignerModel& model) {
  const AlignerModel::Geometry& geometry = model.geometry();
  const bool fits = geometry.mouth_height == kMouthHeight && geometry.mouth_width == kMouthWidth &&
                    geometry.lip_features == kLipGeometrySize &&
                    geometry.mel_bands == LogMelExtractor::kBands &&
                    LogMelExtractor::kHop * geometry.audio_per_video == MouthTrackExtractor::kHop;
  if (fits) return;
  throw Error(
      ErrorCode::kUnsupported, "model \"" + model.info().name + "\"",
      "it was made for other mouth pictures or another spectrogram than this av_fusion has");
}

/// The last by name of the models in `folder`; empty if there is none.
std::filesystem::path last_model_in(const std::filesystem::path& folder) {
  std::filesystem::path last;
  std::error_code error;
  for (std::filesystem::directory_iterator entry(folder, error), end; !error && entry != end;
       entry.increment(error)) {
    if (entry->path().extension() == ".safetensors") last = std::max(last, entry->path());
  }
  return last;
}

/// The container's rate, which is more exact than rounded time stamps, unless it is wrong.
double average_fps(const MediaReader::Stats& stats, double promised) {
  if (stats.pictures < 2) return promised;
  const double distance_s = (*stats.last_picture - *stats.first_picture).seconds();
  const double measured = static_cast<double>(stats.pictures - 1) / distance_s;
  return std::abs(measured - promised) > 0.01 * promised ? measured : promised;
}

VideoDescription describe_video(const MediaReader& reader, const StreamInfo& stream) {
  const MediaReader::Stats& stats = reader.stats();
  VideoDescription video;
  video.stream = stream.index;
  video.codec = stream.codec;
  video.width = stream.display_width;
  video.height = stream.display_height;
  video.average_fps = average_fps(stats, stream.average_fps);
  video.variable_rate = stats.variable_rate;
  video.gaps = stats.video_gaps;
  video.rotation_deg = stream.rotation_deg;
  video.start_s = stream.start.value_or(stats.first_picture.value_or(MediaTime{})).seconds();
  return video;
}

AudioDescription describe_audio(const MediaReader& reader, const StreamInfo& stream) {
  const MediaReader::Stats& stats = reader.stats();
  AudioDescription audio;
  audio.stream = stream.index;
  audio.codec = stream.codec;
  audio.sample_rate_hz = stream.sample_rate_hz;
  audio.channels = stream.channels;
  audio.channel = stats.audio_channel;
  audio.start_s = stream.start.value_or(stats.first_sample.value_or(MediaTime{})).seconds();
  audio.gaps = stats.audio_gaps;
  return audio;
}

ContainerTimingDescription describe_timing(const ContainerTiming& timing,
                                           const InputDescription& input) {
  constexpr MediaDuration kNothing = MediaDuration::from_ms(1);
  const auto seconds = [](const std::optional<MediaTime>& time) {
    return time ? std::optional(time->seconds()) : std::nullopt;
  };
  ContainerTimingDescription result;
  if (input.video) result.video_start_s = input.video->start_s;
  if (input.audio) result.audio_start_s = input.audio->start_s;
  result.video_stored_s = seconds(timing.first_stored_picture);
  result.audio_stored_s = seconds(timing.first_stored_sample);
  if (input.audio) result.audio_priming_ms = timing.audio_priming.ms();
  result.edit_list = timing.edit_list;
  const std::optional<MediaDuration> shift = timing.shift_if_ignored();
  if (shift && (*shift >= kNothing || *shift <= MediaDuration{-kNothing.us})) {
    result.offset_if_ignored_ms = shift->ms();
  }
  return result;
}

double measured_length_s(const MediaReader& reader) {
  const MediaReader::Stats& stats = reader.stats();
  const MediaTime end = std::max(stats.last_picture.value_or(reader.origin()),
                                 stats.end_of_sound.value_or(reader.origin()));
  return std::max(0.0, (end - reader.origin()).seconds());
}

InputDescription describe(const MediaReader& reader, const std::string& name) {
  const MediaInfo& info = reader.info();
  InputDescription input;
  input.path = name;
  input.container = info.container;
  if (info.duration) input.duration_s = info.duration->seconds();
  if (info.video) {
    input.video = describe_video(reader, info.streams.at(static_cast<std::size_t>(*info.video)));
  }
  if (info.audio) {
    input.audio = describe_audio(reader, info.streams.at(static_cast<std::size_t>(*info.audio)));
  }
  input.container_timing = describe_timing(info.timing, input);
  input.truncated = reader.stats().truncated;
  input.clock_jumps = reader.stats().clock_jumps;
  if (input.clock_jumps > 0) input.duration_s = measured_length_s(reader);
  return input;
}

MediaReader::Options reader_options(const AlignerOptions& options, RemarkRelay& relay) {
  MediaReader::Options result;
  result.video_stream = options.video_stream;
  result.audio_stream = options.audio_stream;
  result.audio_channel = options.audio_channel;
  result.start = options.start;
  result.duration = options.duration;
  // One thread analyses what the others decode.
  result.decoder_threads = std::max(1, options.threads - 1);
  result.log = relay.sink();
  return result;
}

AlignFailure current_failure() noexcept {
  AlignFailure failure;
  try {
    try {
      throw;
    } catch (const Error& error) {
      failure.code = error.code();
      failure.message = error.what();
    } catch (const std::exception& error) {
      failure.message = error.what();
    }
  } catch (...) {
    // No memory for the text, or something that is no std::exception: the code says enough.
  }
  return failure;
}

}  // namespace

class Aligner::Impl {
 public:
  explicit Impl(AlignerOptions options) : options_(checked(std::move(options))), model_(load()) {
    check_geometry(model_);
    const AlignerModel::Info& info = model_.info();
    tool_ = libraries();
    tool_.model = ModelDescription{info.name, info.sha256, info.licence, info.training_data};
  }

  AlignmentRun align(const MediaSource& source) const;
  std::unique_ptr<AlignSession> open_session(const AlignSession::Gathering& gathering,
                                             const std::string& name) const {
    const StageScope stage(Stage::kLoad);
    return std::make_unique<AlignSession>(model_, landmarker(), options_, gathering, name);
  }

  const AlignerOptions& options() const noexcept { return options_; }
  const ToolDescription& tool() const noexcept { return tool_; }

 private:
  MediaReader open(const MediaSource& source, RemarkRelay& relay) const;
  AlignmentRun measure(const MediaSource& source) const;

  static AlignerOptions checked(AlignerOptions options) {
    check(options);
    return options;
  }

  AlignerModel load() const {
    return AlignerModel::load(options_.model.empty() ? default_model_path() : options_.model);
  }

  std::shared_ptr<const FaceLandmarker> landmarker() const {
    const std::lock_guard lock(landmarker_mutex_);
    if (!landmarker_) landmarker_ = make_dlib_face_landmarker(options_.face_model.string());
    return landmarker_;
  }

  /// The finding for a file without pictures or without sound.
  Alignment nothing_to_compare(const MediaInfo& info) const {
    AlignmentOptions options;
    options.heads = model_.geometry().num_heads;
    MeasurementContext context;
    context.has_video = info.video.has_value();
    context.has_audio = info.audio.has_value();
    return AlignmentBuilder(options).finish(context);
  }

  AlignerOptions options_;
  AlignerModel model_;
  ToolDescription tool_;
  mutable std::mutex landmarker_mutex_;
  mutable std::shared_ptr<const FaceLandmarker> landmarker_;  // guarded by landmarker_mutex_
};

AlignmentRun Aligner::Impl::align(const MediaSource& source) const {
  StageTimes stages;
  AlignmentRun result;
  {
    const StageClock clock(stages);
    result = measure(source);
  }
  result.performance.stages = stages;
  return result;
}

MediaReader Aligner::Impl::open(const MediaSource& source, RemarkRelay& relay) const {
  const StageScope stage(Stage::kDecode);
  return MediaReader(source, reader_options(options_, relay));
}

AlignmentRun Aligner::Impl::measure(const MediaSource& source) const {
  const auto begun = std::chrono::steady_clock::now();
  RemarkRelay relay(options_.log);
  MediaReader reader = open(source, relay);
  AlignmentRun result;
  MediaDuration analysed;
  // Without one of the two there is nothing to compare, and no reason to decode the other.
  if (reader.info().video && reader.info().audio) {
    const auto session = open_session({}, source.name());
    FileFeed feed(reader, relay, *session, options_);
    result.alignment = feed.run();
    result.speech = session->speech();
    result.cancelled = feed.cancelled();
    analysed = feed.analysed();
  } else {
    result.alignment = nothing_to_compare(reader.info());
  }
  result.input = describe(reader, source.name());
  const std::chrono::duration<double> wall = std::chrono::steady_clock::now() - begun;
  result.performance.wall_s = wall.count();
  result.performance.threads = options_.threads;
  if (analysed.us > 0 && wall.count() > 0) {
    result.performance.speed_x_realtime = analysed.seconds() / wall.count();
  }
  return result;
}

Aligner::Aligner(AlignerOptions options)
    : impl_(std::make_unique<const Impl>(std::move(options))) {}

Aligner::~Aligner() = default;
Aligner::Aligner(Aligner&&) noexcept = default;
Aligner& Aligner::operator=(Aligner&&) noexcept = default;

std::unique_ptr<Aligner> Aligner::try_create(const AlignerOptions& options,
                                             AlignFailure& failure) noexcept {
  try {
    return std::make_unique<Aligner>(options);
  } catch (...) {
    failure = current_failure();
    return nullptr;
  }
}

std::unique_ptr<AlignSession> Aligner::open_session(bool low_latency,
                                                    std::optional<MediaDuration> keep) const {
  AlignSession::Gathering gathering;
  if (low_latency) {
    gathering.chunks.video_chunk = 25;
    gathering.chunks.fuse_chunk = 25;
    gathering.chunks.audio_chunk = 100;
  }
  if (keep && *keep < impl_->options().window) {
    throw Error(ErrorCode::kInvalidArgument, "stream option keep",
                "it must be at least one window of the timeline");
  }
  gathering.keep = keep.value_or(MediaDuration{});
  return impl_->open_session(gathering, "stream");
}

AlignmentRun Aligner::align(const MediaSource& source) const { return impl_->align(source); }

AlignAttempt Aligner::try_align(const MediaSource& source) const noexcept {
  AlignAttempt attempt;
  try {
    attempt.run = impl_->align(source);
  } catch (...) {
    attempt.failure = current_failure();
  }
  return attempt;
}

const ToolDescription& Aligner::tool() const noexcept { return impl_->tool(); }

ToolDescription Aligner::libraries() {
  ToolDescription tool;
  tool.version = AV_FUSION_VERSION;
  tool.onednn = onednn_version();
  tool.ffmpeg = ffmpeg_version();
  tool.opencv = opencv_version();
  return tool;
}

std::filesystem::path Aligner::default_model_path() {
  if (const char* named = std::getenv("AV_FUSION_MODEL"); named != nullptr && *named != '\0') {
    return named;
  }
  for (const char* folder : {AV_FUSION_SOURCE_MODELS, AV_FUSION_INSTALLED_MODELS}) {
    if (auto model = last_model_in(folder); !model.empty()) return model;
  }
  throw Error(ErrorCode::kNotFound, "model weights",
              "no *.safetensors file in " AV_FUSION_SOURCE_MODELS " or " AV_FUSION_INSTALLED_MODELS
              "; name one with the option or AV_FUSION_MODEL");
}

}  // namespace av_fusion
