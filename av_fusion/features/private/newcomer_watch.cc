// Copyright 2026 The av_fusion authors. SPDX-License-Identifier: Apache-2.0
#include "av_fusion/features/private/newcomer_watch.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>

namespace av_fusion {
namespace {

// A thumbnail's cell averages away noise; the slow change of daylight adds up to this too, rarely.
constexpr float kChangedLevels = 6;
// The detector's smallest face is a ninth of the longer side wide, 3.5 cells.
constexpr int kSideCells = 3;
constexpr int kChangedCells = 5;    // of the 9: a face has places as bright as what it hides
constexpr float kHeadOfBox = 1.5F;  // hair and chin move with the face

bool is_on_a_head(float x, float y, std::span<const FaceBox> faces) {
  return std::any_of(faces.begin(), faces.end(), [&](const FaceBox& face) {
    return std::abs(x - (face.x + face.width / 2)) <= kHeadOfBox * face.width / 2 &&
           std::abs(y - (face.y + face.height / 2)) <= kHeadOfBox * face.height / 2;
  });
}

}  // namespace

bool NewcomerWatch::may_have_come(const Thumbnail& picture,
                                  std::span<const FaceBox> followed) const {
  if (picture.picture != last_.picture) return true;
  constexpr int kRows = Thumbnail::kRows, kColumns = Thumbnail::kColumns;
  const float cell_height = static_cast<float>(picture.picture[0]) / kRows;
  const float cell_width = static_cast<float>(picture.picture[1]) / kColumns;
  // Changed cells above and to the left of each corner between cells.
  std::array<std::array<int, kColumns + 1>, kRows + 1> sums{};
  for (int row = 0; row < kRows; ++row) {
    for (int column = 0; column < kColumns; ++column) {
      const auto cell = static_cast<std::size_t>(row * kColumns + column);
      const auto y = static_cast<std::size_t>(row), x = static_cast<std::size_t>(column);
      const bool changed = std::abs(picture.cells[cell] - last_.cells[cell]) > kChangedLevels &&
                           !is_on_a_head((static_cast<float>(column) + 0.5F) * cell_width,
                                         (static_cast<float>(row) + 0.5F) * cell_height, followed);
      sums[y + 1][x + 1] = sums[y][x + 1] + sums[y + 1][x] - sums[y][x] + (changed ? 1 : 0);
      if (row + 1 < kSideCells || column + 1 < kSideCells) continue;
      const int in_square = sums[y + 1][x + 1] - sums[y + 1 - kSideCells][x + 1] -
                            sums[y + 1][x + 1 - kSideCells] +
                            sums[y + 1 - kSideCells][x + 1 - kSideCells];
      if (in_square >= kChangedCells) return true;
    }
  }
  return false;
}

}  // namespace av_fusion
