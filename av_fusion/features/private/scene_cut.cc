// Copyright 2026 The av_fusion authors. SPDX-License-Identifier: Apache-2.0
#include "av_fusion/features/private/scene_cut.h"

#include <cmath>
#include <cstddef>
#include <utility>

namespace av_fusion {
namespace {

constexpr double kMinMeanDifference = 12;  // grey levels
constexpr double kMaxCorrelation = 0.7;

}  // namespace

// Averages at most 8 x 8 pixels of each cell: enough to see a cut, and cheap on large pictures.
SceneCutDetector::Thumbnail SceneCutDetector::make_thumbnail(TensorView<const std::uint8_t> luma) {
  constexpr std::int64_t kSamples = 8;
  const std::int64_t height = luma.dim(0);
  const std::int64_t width = luma.dim(1);
  Thumbnail thumbnail{};
  for (std::int64_t y = 0; y < kRows * kSamples; ++y) {
    const std::uint8_t* row = luma.data() + y * height / (kRows * kSamples) * luma.strides()[0];
    float* cells = thumbnail.data() + y / kSamples * kColumns;
    for (std::int64_t x = 0; x < kColumns * kSamples; ++x) {
      cells[x / kSamples] += static_cast<float>(row[x * width / (kColumns * kSamples)]);
    }
  }
  for (float& cell : thumbnail) cell /= static_cast<float>(kSamples * kSamples);
  return thumbnail;
}

bool SceneCutDetector::is_cut(TensorView<const std::uint8_t> luma) {
  const Thumbnail now = make_thumbnail(luma);
  const Thumbnail before = std::exchange(last_, now);
  const Shape shape_before = std::exchange(last_shape_, luma.shape());
  if (shape_before.rank() == 0) return false;
  if (shape_before != luma.shape()) return true;
  double mean_now = 0, mean_before = 0, difference = 0;
  for (std::size_t i = 0; i < now.size(); ++i) {
    mean_now += now[i];
    mean_before += before[i];
    difference += std::abs(now[i] - before[i]);
  }
  const auto count = static_cast<double>(now.size());
  if (difference / count < kMinMeanDifference) return false;
  mean_now /= count;
  mean_before /= count;
  double both = 0, square_now = 1e-9, square_before = 1e-9;
  for (std::size_t i = 0; i < now.size(); ++i) {
    both += (now[i] - mean_now) * (before[i] - mean_before);
    square_now += (now[i] - mean_now) * (now[i] - mean_now);
    square_before += (before[i] - mean_before) * (before[i] - mean_before);
  }
  return both / std::sqrt(square_now * square_before) < kMaxCorrelation;
}

}  // namespace av_fusion
