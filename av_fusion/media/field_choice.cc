// Copyright 2026 The av_fusion authors. SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdlib>
#include <utility>

#include "av_fusion/media/field_choice_internal.h"

namespace av_fusion {
namespace {

constexpr int kBlock = 16;  // rows and columns
constexpr std::uint64_t kRepeats = 3;

int first_row(Field field) { return field == Field::kTop ? 0 : 1; }

const std::uint8_t* row_of(const AVFrame& grey, int y) {
  return grey.data[0] + std::ptrdiff_t{grey.linesize[0]} * y;
}

}  // namespace

std::optional<Field> first_field(const AVFrame& frame) {
#if LIBAVUTIL_VERSION_INT >= AV_VERSION_INT(58, 7, 100)
  const bool interlaced = (frame.flags & AV_FRAME_FLAG_INTERLACED) != 0;
  const bool top_first = (frame.flags & AV_FRAME_FLAG_TOP_FIELD_FIRST) != 0;
#else
  const bool interlaced = frame.interlaced_frame != 0;
  const bool top_first = frame.top_field_first != 0;
#endif
  if (!interlaced || frame.height < 2) return std::nullopt;
  return top_first ? Field::kTop : Field::kBottom;
}

// Of a block of the field, against the picture before: motion stands out of the noise.
std::uint64_t FieldChoice::largest_change(const AVFrame& grey, Field field) const {
  std::uint64_t largest = 0;
  for (int top = 0; top < size_.height; top += kBlock) {
    const int bottom = std::min(top + kBlock, size_.height);
    for (int left = 0; left < size_.width; left += kBlock) {
      const int right = std::min(left + kBlock, size_.width);
      std::uint64_t sum = 0;
      for (int y = top + first_row(field); y < bottom; y += 2) {
        const std::uint8_t* const now = row_of(grey, y);
        const std::uint8_t* const before = previous_.data() + std::ptrdiff_t{size_.width} * y;
        for (int x = left; x < right; ++x)
          sum += static_cast<unsigned>(std::abs(now[x] - before[x]));
      }
      largest = std::max(largest, sum);
    }
  }
  return largest;
}

Field FieldChoice::choose(const AVFrame& grey, Field first) {
  const PictureSize size{grey.width, grey.height};
  const bool comparable = std::exchange(size_, size) == size && !previous_.empty();
  const bool repeats =
      comparable && kRepeats * largest_change(grey, first) < largest_change(grey, other(first));
  previous_.clear();
  for (int y = 0; y < size.height; ++y) {
    const std::uint8_t* const row = row_of(grey, y);
    previous_.insert(previous_.end(), row, row + size.width);
  }
  const bool was_old = std::exchange(begins_old_, repeats);
  return repeats || was_old ? other(first) : first;
}

void keep_field(Field field, AVFrame& grey) {
  const std::ptrdiff_t stride = grey.linesize[0];
  for (int y = first_row(other(field)); y < grey.height; y += 2) {
    std::uint8_t* const row = grey.data[0] + stride * y;
    const std::uint8_t* const above = y > 0 ? row - stride : row + stride;
    const std::uint8_t* const below = y + 1 < grey.height ? row + stride : row - stride;
    for (int x = 0; x < grey.width; ++x) {
      row[x] = static_cast<std::uint8_t>((above[x] + below[x] + 1) / 2);
    }
  }
}

}  // namespace av_fusion
