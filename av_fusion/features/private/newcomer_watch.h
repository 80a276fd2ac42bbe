// Copyright 2026 The av_fusion authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>

#include "av_fusion/features/face_box.h"
#include "av_fusion/features/private/thumbnail.h"

namespace av_fusion {

/// Says whether another face can have come into view since the whole picture was last searched:
/// that changes an area of its size, which a still background does not.
class NewcomerWatch {
 public:
  /// The whole of this picture was searched for faces.
  void searched(const Thumbnail& picture) { last_ = picture; }

  /// Whether this picture, of the same size, has changed since over an area that the smallest face
  /// found would fill. Changes on and right around the faces that are `followed` do not count.
  bool may_have_come(const Thumbnail& picture, std::span<const FaceBox> followed) const;

 private:
  Thumbnail last_;
};

}  // namespace av_fusion
