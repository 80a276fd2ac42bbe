// Copyright 2026 The av_fusion authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <dlib/image_processing/generic_image.h>

#include <cstdint>

#include "av_fusion/core/tensor_view.h"

namespace av_fusion {

/// A picture that dlib can read in place: [height, width] with dense columns. dlib's image
/// interface consists of the functions below, found by argument-dependent lookup.
struct DlibImage {
  TensorView<const std::uint8_t> luma;
};

inline long num_rows(const DlibImage& image) { return static_cast<long>(image.luma.dim(0)); }
inline long num_columns(const DlibImage& image) { return static_cast<long>(image.luma.dim(1)); }
inline const void* image_data(const DlibImage& image) { return image.luma.data(); }
inline long width_step(const DlibImage& image) {
  return static_cast<long>(image.luma.strides()[0]);
}

}  // namespace av_fusion

template <>
struct dlib::image_traits<av_fusion::DlibImage> {
  using pixel_type = unsigned char;
};
template <>
struct dlib::image_traits<const av_fusion::DlibImage> {
  using pixel_type = unsigned char;
};
