// Copyright 2026 The av_fusion authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>

#include "av_fusion/core/tensor_view.h"

namespace av_fusion {

/// Says whether a picture starts a new scene, from thumbnails of it and the picture before.
class SceneCutDetector {
 public:
  /// Takes the next picture [height, width], not empty. True if it has little in common with the
  /// one before: the mean difference of the thumbnails is large and they do not correlate either,
  /// so that a flash or a fade alone is no cut. The first picture is none; a change of size is one.
  bool is_cut(TensorView<const std::uint8_t> luma);

 private:
  static constexpr int kRows = 18;
  static constexpr int kColumns = 32;
  using Thumbnail = std::array<float, kRows * kColumns>;

  static Thumbnail make_thumbnail(TensorView<const std::uint8_t> luma);

  Thumbnail last_{};
  Shape last_shape_;
};

}  // namespace av_fusion
