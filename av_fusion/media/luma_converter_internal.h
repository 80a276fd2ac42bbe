// Copyright 2026 The av_fusion authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "av_fusion/core/tensor.h"
#include "av_fusion/core/tensor_pool.h"
#include "av_fusion/media/ffmpeg_util_internal.h"
#include "av_fusion/media/field_choice_internal.h"
#include "av_fusion/media/picture_geometry_internal.h"

namespace av_fusion {

/// Turns decoded pictures of any pixel format into upright, square-pixelled, full-range luma.
///
/// YUV and grey formats of up to 16 bits go through a table; the others (RGB, palettes, floats)
/// through swscale, with the matrix of the picture's colour space.
///
/// Of an interlaced picture one field is kept (see `FieldChoice`), and the rows between are
/// interpolated.
class LumaConverter {
 public:
  /// `name` goes into error texts; pictures above `max_pixels` are refused.
  LumaConverter(std::string name, std::int64_t max_pixels)
      : name_(std::move(name)), max_pixels_(max_pixels) {}

  struct Picture {
    Tensor<std::uint8_t> luma;     ///< [height, width], see `VideoFrame`
    bool is_second_field = false;  ///< shown half a picture's duration after the time stamp
  };

  /// `frame`: the next of the stream. Throws `Error(kUnsupported)` for a picture above the limit
  /// or a pixel format that cannot be read.
  Picture convert(const AVFrame& frame, AVRational sample_aspect, Orientation orientation);

 private:
  // Where the luma samples of a format lie.
  struct Layout {
    bool direct = false;  // readable without swscale
    int plane = 0;
    int step = 1;    // bytes
    int offset = 0;  // bytes
    int shift = 0;   // bits
    int depth = 8;   // bits
    bool big_endian = false;
  };

  static Layout layout_of(int pixel_format);

  void prepare_table(const AVFrame& frame, int depth);
  void read_direct(const AVFrame& frame, const Layout& layout, std::uint8_t* out,
                   std::ptrdiff_t stride);
  const AVFrame& read_scaled(const AVFrame& frame, PictureSize size);
  void read_grey(const AVFrame& frame, const Layout& layout, PictureSize size);  // into grey_
  const AVFrame& scale_grey(const AVFrame& grey, PictureSize size);

  std::string name_;
  std::int64_t max_pixels_;
  std::vector<std::uint8_t> table_;
  int table_depth_ = 0;
  bool table_full_range_ = false;
  TensorPool<std::uint8_t> pictures_;
  FieldChoice field_choice_;
  FfmpegPtr<SwsContext> reader_;
  FfmpegPtr<SwsContext> scaler_;
  FfmpegPtr<AVFrame> grey_;
  FfmpegPtr<AVFrame> scaled_;
};

}  // namespace av_fusion
