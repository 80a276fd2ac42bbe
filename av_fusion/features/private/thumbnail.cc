// Copyright 2026 The av_fusion authors. SPDX-License-Identifier: Apache-2.0
#include "av_fusion/features/private/thumbnail.h"

namespace av_fusion {

// Averages at most 4 x 4 pixels of each cell: cheap on pictures of any size.
Thumbnail Thumbnail::of(TensorView<const std::uint8_t> luma) {
  constexpr std::int64_t kSamples = 4;
  const std::int64_t height = luma.dim(0);
  const std::int64_t width = luma.dim(1);
  Thumbnail thumbnail;
  thumbnail.picture = luma.shape();
  for (std::int64_t y = 0; y < kRows * kSamples; ++y) {
    const std::uint8_t* row = luma.data() + y * height / (kRows * kSamples) * luma.strides()[0];
    float* cells = thumbnail.cells.data() + y / kSamples * kColumns;
    for (std::int64_t x = 0; x < kColumns * kSamples; ++x) {
      cells[x / kSamples] += static_cast<float>(row[x * width / (kColumns * kSamples)]);
    }
  }
  for (float& cell : thumbnail.cells) cell /= static_cast<float>(kSamples * kSamples);
  return thumbnail;
}

}  // namespace av_fusion
