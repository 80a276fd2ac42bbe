// Copyright 2026 The av_fusion authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include "av_fusion/features/private/thumbnail.h"

namespace av_fusion {

/// Says whether a picture starts a new scene, from thumbnails of it and the picture before.
class SceneCutDetector {
 public:
  /// Takes the next picture. True if it has little in common with the one before: the mean
  /// difference of the thumbnails is large and they do not correlate either, so that a flash or a
  /// fade alone is no cut. The first picture is none; a change of size is one.
  bool is_cut(const Thumbnail& now);

 private:
  Thumbnail last_;
};

}  // namespace av_fusion
