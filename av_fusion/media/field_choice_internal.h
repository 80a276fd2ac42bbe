// Copyright 2026 The av_fusion authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "av_fusion/media/ffmpeg_util_internal.h"
#include "av_fusion/media/picture_geometry_internal.h"

namespace av_fusion {

/// The even rows (top) or the odd rows of an interlaced picture, which were taken half a picture's
/// duration apart.
enum class Field { kTop, kBottom };

constexpr Field other(Field field) { return field == Field::kTop ? Field::kBottom : Field::kTop; }

/// The field that is shown first, which is the one the time stamp belongs to; nothing if the
/// picture is not interlaced.
std::optional<Field> first_field(const AVFrame& frame);

/// Which field of interlaced pictures to look at: the first, unless it repeats the first field of
/// the picture before while the second field moves. That is film on video (telecine): of every five
/// pictures one begins with an old field, and its second field begins the next film picture; so
/// does the second field of the picture after it.
class FieldChoice {
 public:
  /// `grey`: the next picture of the stream, in 8-bit grey.
  Field choose(const AVFrame& grey, Field first);

 private:
  std::uint64_t largest_change(const AVFrame& grey, Field field) const;

  PictureSize size_;
  std::vector<std::uint8_t> previous_;
  bool begins_old_ = false;  // the picture before began with an old field
};

/// Replaces the rows of the other field by the mean of their neighbours.
void keep_field(Field field, AVFrame& grey);

}  // namespace av_fusion
