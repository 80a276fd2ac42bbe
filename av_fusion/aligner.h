// Copyright 2026 The av_fusion authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <memory>
#include <optional>

#include "av_fusion/align_attempt.h"
#include "av_fusion/aligner_options.h"
#include "av_fusion/alignment_run.h"
#include "av_fusion/media/media_source.h"
#include "av_fusion/report/tool_description.h"

namespace av_fusion {

class AlignSession;

/// Measures how well lips and speech line up in media files: the façade over all rooms.
///
///     av_fusion::Aligner aligner;
///     auto run = aligner.align(av_fusion::MediaSource::from_path("talk.mp4"));
///     if (run.alignment.offset) std::printf("%+.0f ms\n", run.alignment.offset->ms);
///
/// Holds the loaded models. One object may be used by several threads at once, each with a source
/// of its own; the callbacks of the options are then called on all these threads.
class Aligner {
 public:
  /// Loads the network; the face model is loaded by the first run that needs it. Throws `Error`:
  /// kInvalidArgument (an option out of range), kNotFound, kCorruptData or kUnsupported (the
  /// model).
  explicit Aligner(AlignerOptions options = {});
  ~Aligner();
  Aligner(Aligner&&) noexcept;
  Aligner& operator=(Aligner&&) noexcept;

  /// The constructor for hosts that do without exceptions: null and `failure` filled in if it
  /// fails.
  static std::unique_ptr<Aligner> try_create(const AlignerOptions& options,
                                             AlignFailure& failure) noexcept;

  /// Analyses `source` from the first to the last picture of the part that the options name.
  ///
  /// What a user can expect of a video (no picture, no sound, no face, no speech, too short,
  /// ambiguous) comes back as `Alignment::status`. Throws `Error` if the source cannot be read (see
  /// `MediaReader`), if the face model cannot, or kUnsupported if sound and pictures that belong
  /// together lie further apart in the file than `AlignerOptions::max_interleave`.
  ///
  /// Memory does not depend on the length of the file, but for the answer itself. oneDNN keeps, for
  /// the whole process, kernels of the last 1024 shapes: about 10 MB for each new length of a
  /// face's track, up to some 400 MB. Hosts that align many files may set the environment variable
  /// ONEDNN_PRIMITIVE_CACHE_CAPACITY to 64 before the first run, as av_align does; it costs no
  /// time.
  AlignmentRun align(const MediaSource& source) const;

  /// `align` for hosts that do without exceptions.
  AlignAttempt try_align(const MediaSource& source) const noexcept;

  /// Program, libraries and model, for reports.
  const ToolDescription& tool() const noexcept;

  /// Program and libraries, without a model.
  static ToolDescription libraries();

  /// The weights used when the options name none: the file that the environment variable
  /// AV_FUSION_MODEL names, else the last by name of the *.safetensors files in the folder that
  /// this library was built from, else the same in the folder it was installed to. Throws
  /// `Error(kNotFound)` naming the folders if there is none.
  static std::filesystem::path default_model_path();

 private:
  friend class StreamAligner;
  std::unique_ptr<AlignSession> open_session(bool low_latency,
                                             std::optional<MediaDuration> keep) const;

  class Impl;
  std::unique_ptr<const Impl> impl_;
};

}  // namespace av_fusion
