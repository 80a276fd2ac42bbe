// Copyright 2026 The av_fusion authors. SPDX-License-Identifier: Apache-2.0
#include "av_fusion/model/private/picture_stack.h"

#include <algorithm>
#include <cmath>

namespace av_fusion {
namespace {

constexpr double kLeastContrast = 0.02;

}  // namespace

PictureStack::PictureStack(TensorView<const std::uint8_t> pictures, std::int64_t pool,
                           std::int64_t mean_radius, std::int64_t stack_radius)
    : pictures_(pictures),
      pool_(pool),
      mean_radius_(mean_radius),
      stack_radius_(stack_radius),
      channels_(2 * stack_radius + 1),
      num_pictures_(pictures.dim(0)),
      height_(pictures.dim(1) / pool),
      width_(pictures.dim(2) / pool),
      num_pixels_(height_ * width_),
      white_(static_cast<double>(255 * pool * pool)),
      pooled_(static_cast<std::size_t>(num_pixels_)),
      sums_(static_cast<std::size_t>(num_pixels_)),
      planes_({channels_, num_pixels_}) {
  // Planes before picture 0 are zero, as `planes_` is.
  while (next_plane_ < stack_radius_) add_plane();
}

void PictureStack::next(TensorView<float> stacks) {
  float* out = stacks.data();
  std::vector<const float*> planes(static_cast<std::size_t>(channels_));
  for (std::int64_t i = 0; i < stacks.dim(0); ++i, ++next_stack_) {
    add_plane();
    for (std::int64_t k = 0; k < channels_; ++k) {
      // Picture next_stack_ + k - stack_radius_, plus `channels_` to stay above zero.
      const std::int64_t slot = (next_stack_ + k + stack_radius_ + 1) % channels_;
      planes[static_cast<std::size_t>(k)] = planes_.data() + slot * num_pixels_;
    }
    for (std::int64_t pixel = 0; pixel < num_pixels_; ++pixel) {
      for (const float* plane : planes) *out++ = plane[pixel];
    }
  }
}

void PictureStack::add_plane() {
  const std::int64_t picture = next_plane_++;
  float* plane = planes_.data() + picture % channels_ * num_pixels_;
  if (picture >= num_pictures_) {
    std::fill_n(plane, num_pixels_, 0.0f);
    return;
  }
  slide_window(picture);
  pool_picture(picture);
  // pooled / white - sums / (white * count) = (count * pooled - sums) / (white * count)
  const auto count = static_cast<std::int32_t>(window_end_ - window_begin_);
  const auto scale = static_cast<float>(1 / (white_ * count * contrast()));
  for (std::int64_t i = 0; i < num_pixels_; ++i) {
    const auto at = static_cast<std::size_t>(i);
    plane[i] = static_cast<float>(count * pooled_[at] - sums_[at]) * scale;
  }
}

void PictureStack::slide_window(std::int64_t picture) {
  const std::int64_t begin = std::max<std::int64_t>(picture - mean_radius_, 0);
  const std::int64_t end = std::min(picture + mean_radius_ + 1, num_pictures_);
  while (window_end_ < end) add_to_sums(window_end_++, 1);
  while (window_begin_ < begin) add_to_sums(window_begin_++, -1);
}

void PictureStack::add_to_sums(std::int64_t picture, std::int32_t sign) {
  pool_picture(picture);
  for (std::size_t i = 0; i < sums_.size(); ++i) sums_[i] += sign * pooled_[i];
}

void PictureStack::pool_picture(std::int64_t picture) {
  const std::int64_t row_length = width_ * pool_;
  const std::uint8_t* row = pictures_.data() + picture * num_pixels_ * pool_ * pool_;
  std::fill(pooled_.begin(), pooled_.end(), 0);
  for (std::int64_t y = 0; y < height_ * pool_; ++y, row += row_length) {
    std::int32_t* to = pooled_.data() + y / pool_ * width_;
    for (std::int64_t x = 0; x < width_; ++x) {
      for (std::int64_t i = 0; i < pool_; ++i) to[x] += row[x * pool_ + i];
    }
  }
}

double PictureStack::contrast() const {
  std::int64_t sum = 0;
  std::int64_t squares = 0;
  for (const std::int32_t value : sums_) {
    sum += value;
    squares += std::int64_t{value} * value;
  }
  const auto n = static_cast<double>(num_pixels_);
  const double mean = static_cast<double>(sum) / n;
  const double variance = std::max(0.0, static_cast<double>(squares) / n - mean * mean);
  const auto count = static_cast<double>(window_end_ - window_begin_);
  return std::sqrt(variance) / (white_ * count) + kLeastContrast;
}

}  // namespace av_fusion
