// Copyright 2026 The av_fusion authors. SPDX-License-Identifier: Apache-2.0
#include "av_fusion/features/private/resample.h"

#include <algorithm>
#include <cmath>
#include <vector>

namespace av_fusion {
namespace {

// For one axis: the output pixel i is the sum of weights[begin[i] + k] * source[first[i] + k].
struct AxisWeights {
  std::vector<int> first;
  std::vector<int> begin;  // size of `first` plus one
  std::vector<float> weights;
};

// Adds the overlap of the interval [from, to) with every pixel, scaled to a sum of 1; pixels
// outside 0 ... extent-1 count for the border pixel.
void add_average(double from, double to, int extent, AxisWeights& axis) {
  const int low = static_cast<int>(std::floor(from));
  const int high = std::max(low, static_cast<int>(std::ceil(to)) - 1);
  const int first = std::clamp(low, 0, extent - 1);
  const int last = std::clamp(high, 0, extent - 1);
  const std::size_t base = axis.weights.size();
  axis.first.push_back(first);
  axis.weights.resize(base + static_cast<std::size_t>(last - first + 1), 0.0F);
  for (int pixel = low; pixel <= high; ++pixel) {
    const double overlap = std::min<double>(to, pixel + 1) - std::max<double>(from, pixel);
    const int inside = std::clamp(pixel, first, last);
    axis.weights[base + static_cast<std::size_t>(inside - first)] +=
        static_cast<float>(overlap / (to - from));
  }
}

// Adds the two weights of linear interpolation at the position `at` (pixel centres are at .5).
void add_linear(double at, int extent, AxisWeights& axis) {
  const double position = std::clamp(at - 0.5, 0.0, static_cast<double>(extent - 1));
  const int first = std::min(static_cast<int>(position), std::max(0, extent - 2));
  const auto right = static_cast<float>(position - first);
  axis.first.push_back(first);
  axis.weights.push_back(1.0F - right);
  if (extent > 1) axis.weights.push_back(right);
}

AxisWeights make_axis(double origin, double length, int extent, int count) {
  AxisWeights axis;
  const double step = length / count;
  for (int i = 0; i < count; ++i) {
    axis.begin.push_back(static_cast<int>(axis.weights.size()));
    const double from = origin + step * i;
    if (step > 1) {
      add_average(from, from + step, extent, axis);
    } else {
      add_linear(from + step / 2, extent, axis);
    }
  }
  axis.begin.push_back(static_cast<int>(axis.weights.size()));
  return axis;
}

// One output row before the columns are resampled: the weighted sum of source rows.
void blend_rows(TensorView<const std::uint8_t> luma, const AxisWeights& axis, int row, int x_begin,
                int x_end, std::vector<float>& sum) {
  std::fill(sum.begin(), sum.end(), 0.0F);
  const int begin = axis.begin[static_cast<std::size_t>(row)];
  const int end = axis.begin[static_cast<std::size_t>(row) + 1];
  for (int k = begin; k < end; ++k) {
    const int y = axis.first[static_cast<std::size_t>(row)] + k - begin;
    const std::uint8_t* source = luma.data() + y * luma.strides()[0];
    const float weight = axis.weights[static_cast<std::size_t>(k)];
    float* out = sum.data();
    for (int x = x_begin; x < x_end; ++x) out[x] += weight * static_cast<float>(source[x]);
  }
}

void blend_columns(const std::vector<float>& sum, const AxisWeights& axis, int columns,
                   std::uint8_t* out) {
  for (int x = 0; x < columns; ++x) {
    const auto at = static_cast<std::size_t>(x);
    const float* source = sum.data() + axis.first[at] - axis.begin[at];
    float value = 0.5F;
    for (int k = axis.begin[at]; k < axis.begin[at + 1]; ++k) {
      value += axis.weights[static_cast<std::size_t>(k)] * source[k];
    }
    out[x] = static_cast<std::uint8_t>(std::clamp(value, 0.0F, 255.0F));
  }
}

}  // namespace

Tensor<std::uint8_t> resample(TensorView<const std::uint8_t> luma, const PictureRegion& region,
                              int rows, int columns) {
  const int height = static_cast<int>(luma.dim(0));
  const int width = static_cast<int>(luma.dim(1));
  const AxisWeights vertical = make_axis(region.y, region.height, height, rows);
  const AxisWeights horizontal = make_axis(region.x, region.width, width, columns);
  const int x_begin = *std::min_element(horizontal.first.begin(), horizontal.first.end());
  int x_end = 0;
  for (std::size_t i = 0; i + 1 < horizontal.begin.size(); ++i) {
    x_end = std::max(x_end, horizontal.first[i] + horizontal.begin[i + 1] - horizontal.begin[i]);
  }
  Tensor<std::uint8_t> out(Shape{rows, columns});
  std::vector<float> sum(static_cast<std::size_t>(width));
  for (int row = 0; row < rows; ++row) {
    blend_rows(luma, vertical, row, x_begin, x_end, sum);
    blend_columns(sum, horizontal, columns, out.data() + static_cast<std::int64_t>(row) * columns);
  }
  return out;
}

}  // namespace av_fusion
