// Copyright 2026 The av_fusion authors. SPDX-License-Identifier: Apache-2.0
#include "av_fusion/aligner.h"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <exception>
#include <functional>
#include <future>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "av_fusion/align_session_internal.h"
#include "av_fusion/core/error.h"
#include "av_fusion/core/stage_clock.h"
#include "av_fusion/core/stage_scope.h"
#include "av_fusion/describe_input_internal.h"
#include "av_fusion/features/face_detector.h"
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
#include "av_fusion/part_plan_internal.h"

namespace av_fusion {
namespace {

// One decodes, one looks for faces, one runs the network.
constexpr int kThreadsForThreeStages = 3;

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

MediaReader::Options reader_options(const AlignerOptions& options, RemarkRelay& relay) {
  MediaReader::Options result;
  result.video_stream = options.video_stream;
  result.audio_stream = options.audio_stream;
  result.audio_channel = options.audio_channel;
  result.start = options.start;
  result.duration = options.duration;
  // One thread looks for faces, one may run the network, the others decode.
  const int analysing = options.threads >= kThreadsForThreeStages ? 2 : 1;
  result.decoder_threads = std::max(1, options.threads - analysing);
  result.draft_pictures = true;
  result.log = relay.sink();
  return result;
}

/// Passes on what was not said before.
LogSink without_repetition(LogSink log) {
  return [log = std::move(log), said = std::set<std::string, std::less<>>()](
             LogLevel level, std::string_view text) mutable {
    if (said.insert(std::string(text)).second) log(level, text);
  };
}

/// Adds what a further part of the file told to `input`, which begins as what the first one did.
void add_part(const InputDescription& part, bool is_first, InputDescription& input) {
  if (is_first) {
    input = part;
    return;
  }
  input.truncated |= part.truncated;
  input.clock_jumps += part.clock_jumps;
  if (input.video && part.video) {
    input.video->gaps += part.video->gaps;
    input.video->variable_rate |= part.video->variable_rate;
  }
  if (input.audio && part.audio) input.audio->gaps += part.audio->gaps;
}

/// What parts cannot tell comes from what the container says of the whole.
void keep_what_is_of_the_whole(const InputDescription& promised, InputDescription& input) {
  input.duration_s = promised.duration_s;
  if (input.video && promised.video) input.video->start_s = promised.video->start_s;
  if (input.audio && promised.audio) input.audio->start_s = promised.audio->start_s;
}

/// The faces of parts that were not analysed in order of time.
void number_faces_by_time(Alignment& alignment) {
  std::vector<FaceTrack>& tracks = alignment.tracks;
  std::stable_sort(tracks.begin(), tracks.end(),
                   [](const FaceTrack& a, const FaceTrack& b) { return a.start < b.start; });
  std::map<int, int> number;
  for (FaceTrack& track : tracks) {
    const int next = static_cast<int>(number.size());
    track.id = number[track.id] = next;
  }
  for (TimelinePoint& point : alignment.timeline) point.track = number.at(point.track);
  for (AttentionFrame& frame : alignment.attention) frame.track = number.at(frame.track);
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
  std::unique_ptr<AlignSession> open_session(const AlignSession::Fusion& fusion,
                                             std::shared_ptr<FileEvidence> evidence,
                                             const std::string& name) const {
    const StageScope stage(Stage::kLoad);
    return std::make_unique<AlignSession>(model_, landmarker(), options_, fusion,
                                          std::move(evidence), name);
  }

  std::shared_ptr<FileEvidence> new_evidence(MediaDuration keep) const {
    return std::make_shared<FileEvidence>(alignment_options(model_, options_, keep));
  }

  const AlignerOptions& options() const noexcept { return options_; }
  const ToolDescription& tool() const noexcept { return tool_; }

 private:
  /// What came of reading a source, apart from the evidence.
  struct Reading {
    InputDescription input;
    std::vector<AnalysedPart> parts;
    MediaDuration length;  // that was analysed
    bool cancelled = false;
  };

  static MediaReader open(const MediaSource& source, const AlignerOptions& options,
                          RemarkRelay& relay);
  AlignmentRun measure(const MediaSource& source) const;
  Reading read(MediaReader& reader, RemarkRelay& relay, const std::string& name,
               const AlignerOptions& options, const std::shared_ptr<FileEvidence>& evidence) const;
  Reading read_parts(const MediaSource& source, const std::vector<AnalysedPart>& plan,
                     const std::shared_ptr<FileEvidence>& evidence) const;
  std::vector<AnalysedPart> plan_for(const MediaReader& reader) const;
  AlignProgressCallback progress_after(MediaDuration before,
                                       const std::vector<AnalysedPart>& plan) const;

  static AlignerOptions checked(AlignerOptions options) {
    check(options);
    return options;
  }

  AlignerModel load() const {
    return AlignerModel::load(options_.model.empty() ? default_model_path() : options_.model);
  }

  std::shared_ptr<const FaceLandmarker> landmarker() const {
    const std::lock_guard lock(landmarker_mutex_);
    if (!landmarker_) {
      // The first detector of the process unpacks what all share, which takes as long as the file.
      const auto unpacked =
          std::async(options_.threads > 1 ? std::launch::async : std::launch::deferred,
                     [] { static_cast<void>(make_dlib_face_detector()); });
      landmarker_ = make_dlib_face_landmarker(options_.face_model.string());
    }
    return landmarker_;
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

MediaReader Aligner::Impl::open(const MediaSource& source, const AlignerOptions& options,
                                RemarkRelay& relay) {
  const StageScope stage(Stage::kDecode);
  return MediaReader(source, reader_options(options, relay));
}

AlignmentRun Aligner::Impl::measure(const MediaSource& source) const {
  const auto begun = std::chrono::steady_clock::now();
  RemarkRelay relay(options_.log);
  std::optional<MediaReader> reader(open(source, options_, relay));
  const std::vector<AnalysedPart> plan =
      options_.fast ? plan_for(*reader) : std::vector<AnalysedPart>();
  AlignmentRun result;
  Reading reading;
  const auto evidence = new_evidence({});
  if (plan.empty()) {
    reading = read(*reader, relay, source.name(), options_, evidence);
  } else {
    const InputDescription promised = describe_input(*reader, source.name());
    reader.reset();
    reading = read_parts(source, plan, evidence);
    keep_what_is_of_the_whole(promised, reading.input);
  }
  result.alignment = evidence->builder.finish(evidence->context);
  if (!plan.empty()) number_faces_by_time(result.alignment);
  result.alignment.parts = std::move(reading.parts);
  result.input = std::move(reading.input);
  result.speech = evidence->context.speech;
  result.cancelled = reading.cancelled;
  const std::chrono::duration<double> wall = std::chrono::steady_clock::now() - begun;
  result.performance.wall_s = wall.count();
  result.performance.threads = options_.threads;
  if (reading.length.us > 0 && wall.count() > 0) {
    result.performance.speed_x_realtime = reading.length.seconds() / wall.count();
  }
  return result;
}

Aligner::Impl::Reading Aligner::Impl::read(MediaReader& reader, RemarkRelay& relay,
                                           const std::string& name, const AlignerOptions& options,
                                           const std::shared_ptr<FileEvidence>& evidence) const {
  Reading result;
  // Without one of the two there is nothing to compare, and no reason to decode the other.
  if (reader.info().video && reader.info().audio) {
    AlignSession::Fusion fusion;
    fusion.on_own_thread = options_.threads >= kThreadsForThreeStages;
    const auto session = open_session(fusion, evidence, name);
    FileFeed feed(reader, relay, *session, options);
    feed.run();
    result.cancelled = feed.cancelled();
    result.length = feed.analysed();
  } else {
    evidence->context.has_video = reader.info().video.has_value();
    evidence->context.has_audio = reader.info().audio.has_value();
  }
  result.input = describe_input(reader, name);
  return result;
}

Aligner::Impl::Reading Aligner::Impl::read_parts(
    const MediaSource& source, const std::vector<AnalysedPart>& plan,
    const std::shared_ptr<FileEvidence>& evidence) const {
  AlignerOptions options = options_;
  if (options_.log) options.log = without_repetition(options_.log);
  RemarkRelay relay(options.log);
  Reading result;
  for (const AnalysedPart& part : plan) {
    options.start = part.start;
    options.duration = part.end - part.start;
    if (options_.progress) options.progress = progress_after(result.length, plan);
    MediaReader reader = open(source, options, relay);
    const Reading one = read(reader, relay, source.name(), options, evidence);
    add_part(one.input, &part == &plan.front(), result.input);
    if (one.length.us > 0) result.parts.push_back(part);  // the file may end before
    result.length = result.length + one.length;
    result.cancelled = one.cancelled;
    const bool is_enough =
        result.parts.size() >= kFewestParts &&
        is_settled(evidence->builder.offset_so_far(evidence->context), options_.tolerance);
    if (one.cancelled || is_enough) break;
  }
  std::sort(result.parts.begin(), result.parts.end(),
            [](const AnalysedPart& a, const AnalysedPart& b) { return a.start < b.start; });
  return result;
}

AlignProgressCallback Aligner::Impl::progress_after(MediaDuration before,
                                                    const std::vector<AnalysedPart>& plan) const {
  MediaDuration whole;
  for (const AnalysedPart& part : plan) whole = whole + (part.end - part.start);
  return [this, before, whole](AlignProgress progress) {
    progress.position = before + progress.position;
    progress.length = whole;
    return options_.progress(progress);
  };
}

std::vector<AnalysedPart> Aligner::Impl::plan_for(const MediaReader& reader) const {
  const MediaInfo& info = reader.info();
  if (!info.video || !info.audio || !info.duration || !info.can_seek) return {};
  const MediaDuration start = options_.start.value_or(MediaDuration{});
  MediaDuration length = *info.duration - start;
  if (options_.duration) length = std::min(length, *options_.duration);
  std::vector<AnalysedPart> plan = spread_parts(length);
  for (AnalysedPart& part : plan) part = {start + part.start, start + part.end};
  return plan;
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
  AlignSession::Fusion fusion;
  if (low_latency) {
    fusion.chunks.video_chunk = 25;
    fusion.chunks.fuse_chunk = 25;
    fusion.chunks.audio_chunk = 100;
  }
  if (keep && *keep < impl_->options().window) {
    throw Error(ErrorCode::kInvalidArgument, "stream option keep",
                "it must be at least one window of the timeline");
  }
  return impl_->open_session(fusion, impl_->new_evidence(keep.value_or(MediaDuration{})), "stream");
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
