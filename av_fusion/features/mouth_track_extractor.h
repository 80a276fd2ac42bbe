// Copyright 2026 The av_fusion authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "av_fusion/core/timeline.h"
#include "av_fusion/features/face_detector.h"
#include "av_fusion/features/face_landmarker.h"
#include "av_fusion/features/face_tracker.h"
#include "av_fusion/features/mouth_chunk.h"
#include "av_fusion/media/video_frame.h"

namespace av_fusion {

/// From pictures at any rate to mouth crops and lip geometry of every face on a grid of 25 ticks a
/// second.
///
///     MouthTrackExtractor extractor(make_dlib_face_detector(), make_dlib_face_landmarker());
///     for (VideoFrame& frame : frames) {
///       extractor.push(std::move(frame));
///       for (const MouthChunk& chunk : extractor.take_ready()) { ... }
///     }
///     extractor.finish();
///     // take_ready() once more
///
/// Tick i happens at the time of the first picture plus i times 40 ms and takes the picture nearest
/// in time (the earlier of two equally near ones); only pictures that some tick takes are analysed,
/// and one picture may serve several ticks. A tick without a picture within 150 ms sees no face.
/// The last tick is the one nearest to the last picture.
///
/// The pose of a crop is smoothed over the 6 ticks before and after it, so a row is ready about
/// 7 ticks after its picture. At most 8 pictures are held. The rows do not depend on how calls of
/// `push` and `take_ready` are mixed; what is ready is kept until it is taken.
///
/// Not thread-safe: one extractor belongs to one stream.
class MouthTrackExtractor {
 public:
  static constexpr MediaDuration kHop{40'000};

  struct Counters {
    std::int64_t pictures = 0;           ///< pushed
    std::int64_t pictures_analysed = 0;  ///< taken by at least one tick
    std::int64_t pictures_dropped = 0;   ///< empty, or not later than the one before
    std::int64_t ticks = 0;
    std::int64_t ticks_with_face = 0;
    std::int64_t tracks = 0;
  };

  /// Throws `Error(kInvalidArgument)` for null pointers and options out of range.
  MouthTrackExtractor(std::unique_ptr<FaceDetector> detector,
                      std::shared_ptr<const FaceLandmarker> landmarker,
                      const FaceTrackerOptions& options = {});
  ~MouthTrackExtractor();
  MouthTrackExtractor(MouthTrackExtractor&&) noexcept;
  MouthTrackExtractor& operator=(MouthTrackExtractor&&) noexcept;

  /// Takes the next picture. Throws `Error(kInvalidArgument)` after `finish`.
  void push(VideoFrame frame);

  /// No further picture will come: ends all tracks. May be called more than once.
  void finish();

  /// The rows that have become ready, one chunk for each track that has any, by track id.
  std::vector<MouthChunk> take_ready();

  /// The ticks; nothing before the first picture.
  std::optional<Timeline> grid() const noexcept;

  const Counters& counters() const noexcept;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace av_fusion
