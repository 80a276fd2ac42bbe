// Copyright 2026 The av_fusion authors. SPDX-License-Identifier: Apache-2.0
#include "av_fusion/media/luma_converter_internal.h"

extern "C" {
#include <libavutil/pixdesc.h>
}

#include <algorithm>
#include <cmath>

#include "av_fusion/core/error.h"

namespace av_fusion {
namespace {

constexpr std::uint64_t kNotDirect = AV_PIX_FMT_FLAG_RGB | AV_PIX_FMT_FLAG_PAL |
                                     AV_PIX_FMT_FLAG_BITSTREAM | AV_PIX_FMT_FLAG_HWACCEL |
                                     AV_PIX_FMT_FLAG_FLOAT | AV_PIX_FMT_FLAG_BAYER;

bool is_full_range(const AVFrame& frame) {
  if (frame.color_range == AVCOL_RANGE_JPEG) return true;
  switch (frame.format) {
    case AV_PIX_FMT_YUVJ420P:
    case AV_PIX_FMT_YUVJ422P:
    case AV_PIX_FMT_YUVJ444P:
    case AV_PIX_FMT_YUVJ440P:
    case AV_PIX_FMT_YUVJ411P: return true;
    default: break;
  }
  // Grey formats are full range unless they say otherwise, as FFmpeg has it.
  const AVPixFmtDescriptor* kind = av_pix_fmt_desc_get(static_cast<AVPixelFormat>(frame.format));
  return frame.color_range == AVCOL_RANGE_UNSPECIFIED && kind != nullptr && kind->nb_components < 3;
}

// A grey picture of the given size, with rows padded as swscale likes them.
void reserve(FfmpegPtr<AVFrame>& picture, PictureSize size) {
  if (picture && picture->width == size.width && picture->height == size.height) return;
  picture = own(av_frame_alloc());
  picture->format = AV_PIX_FMT_GRAY8;
  picture->width = size.width;
  picture->height = size.height;
  picture->color_range = AVCOL_RANGE_JPEG;
  if (av_frame_get_buffer(picture.get(), 64) < 0) throw std::bad_alloc();
}

// Writes `picture` in the orientation; row y of the result begins at `out` + y * its width.
void copy_oriented(const AVFrame& picture, Orientation orientation, std::uint8_t* out) {
  const PictureSize size = orientation.apply({picture.width, picture.height});
  const std::ptrdiff_t row_step = picture.linesize[0];
  const std::ptrdiff_t along_x = orientation.transpose ? row_step : 1;
  const std::ptrdiff_t along_y = orientation.transpose ? 1 : row_step;
  const std::uint8_t* first = picture.data[0];
  if (orientation.flip_x) first += along_x * (size.width - 1);
  if (orientation.flip_y) first += along_y * (size.height - 1);
  const std::ptrdiff_t dx = orientation.flip_x ? -along_x : along_x;
  const std::ptrdiff_t dy = orientation.flip_y ? -along_y : along_y;
  for (int y = 0; y < size.height; ++y) {
    const std::uint8_t* row = first + dy * y;
    for (int x = 0; x < size.width; ++x) *out++ = row[dx * x];
  }
}

// swscale from `in` to `out`; `context` is kept for the next picture of the same kind.
bool scale(FfmpegPtr<SwsContext>& context, const AVFrame& in, bool in_full_range, int flags,
           AVFrame& out) {
  context.reset(sws_getCachedContext(context.release(), in.width, in.height,
                                     static_cast<AVPixelFormat>(in.format), out.width, out.height,
                                     AV_PIX_FMT_GRAY8, flags, nullptr, nullptr, nullptr));
  if (context == nullptr) return false;
  const int* matrix = sws_getCoefficients(
      in.colorspace == AVCOL_SPC_UNSPECIFIED || in.colorspace == AVCOL_SPC_RGB ? SWS_CS_DEFAULT
                                                                               : in.colorspace);
  sws_setColorspaceDetails(context.get(), matrix, in_full_range ? 1 : 0, matrix, 1, 0, 1 << 16,
                           1 << 16);
  return sws_scale(context.get(), in.data, in.linesize, 0, in.height, out.data, out.linesize) ==
         out.height;
}

/// The table's numbers for 8 bits of limited range, in arithmetic that compilers vectorise: 255 /
/// 219 of a level is the level and 36 / 219 of it, and 36 * (level + 3) / 219 rounded down is that
/// part rounded to the nearest, because 36 * level is never 110 above a multiple of 219.
void stretch_row(const std::uint8_t* in, int width, std::uint8_t* out) {
  constexpr std::uint32_t kPart = (36U << 16) / 219 + 1;
  for (int x = 0; x < width; ++x) {
    const std::uint8_t level = std::clamp<std::uint8_t>(in[x], 16, 235) - 16;
    const auto part = static_cast<std::uint16_t>(level + 3);
    out[x] = static_cast<std::uint8_t>(level + ((part * kPart) >> 16));
  }
}

}  // namespace

LumaConverter::Layout LumaConverter::layout_of(int pixel_format) {
  Layout layout;
  const AVPixFmtDescriptor* kind = av_pix_fmt_desc_get(static_cast<AVPixelFormat>(pixel_format));
  if (kind == nullptr || kind->nb_components == 0 || (kind->flags & kNotDirect) != 0) return layout;
  const AVComponentDescriptor& luma = kind->comp[0];
  if (luma.depth < 8 || luma.depth + luma.shift > 16 || pixel_format == AV_PIX_FMT_XYZ12LE ||
      pixel_format == AV_PIX_FMT_XYZ12BE) {
    return layout;
  }
  if (luma.depth == 8 && luma.shift != 0) return layout;
  layout.direct = true;
  layout.plane = luma.plane;
  layout.step = luma.step;
  layout.offset = luma.offset;
  layout.shift = luma.shift;
  layout.depth = luma.depth;
  layout.big_endian = (kind->flags & AV_PIX_FMT_FLAG_BE) != 0;
  return layout;
}

// Limited range of depth d: black 16 * 2^(d-8), white 235 * 2^(d-8) (ITU-R BT.709-6, 4.6).
void LumaConverter::prepare_table(const AVFrame& frame, int depth) {
  const bool full_range = is_full_range(frame);
  if (depth == table_depth_ && full_range == table_full_range_) return;
  table_depth_ = depth;
  table_full_range_ = full_range;
  table_.resize(std::size_t{1} << depth);
  const double black = full_range ? 0 : 16 << (depth - 8);
  const double span = full_range ? (1 << depth) - 1 : 219 << (depth - 8);
  for (std::size_t i = 0; i < table_.size(); ++i) {
    const double value = std::clamp((static_cast<double>(i) - black) * 255 / span, 0.0, 255.0);
    table_[i] = static_cast<std::uint8_t>(std::lround(value));
  }
}

void LumaConverter::read_direct(const AVFrame& frame, const Layout& layout, std::uint8_t* out,
                                std::ptrdiff_t stride) {
  prepare_table(frame, layout.depth);
  const std::uint8_t* const table = table_.data();
  const unsigned mask = (1U << layout.depth) - 1;
  const int low = layout.big_endian ? 1 : 0;
  for (int y = 0; y < frame.height; ++y, out += stride) {
    const std::uint8_t* in =
        frame.data[layout.plane] + std::ptrdiff_t{frame.linesize[layout.plane]} * y + layout.offset;
    if (layout.depth == 8 && layout.step == 1) {
      if (table_full_range_) {
        std::copy_n(in, frame.width, out);
      } else {
        stretch_row(in, frame.width, out);
      }
      continue;
    }
    if (layout.depth == 8) {
      for (int x = 0; x < frame.width; ++x, in += layout.step) out[x] = table[*in];
      continue;
    }
    for (int x = 0; x < frame.width; ++x, in += layout.step) {
      const unsigned word = static_cast<unsigned>(in[low] | (in[1 - low] << 8));
      out[x] = table[(word >> layout.shift) & mask];
    }
  }
}

const AVFrame& LumaConverter::read_scaled(const AVFrame& frame, PictureSize size) {
  reserve(grey_, size);
  const int flags = SWS_BICUBIC | SWS_ACCURATE_RND;
  if (!scale(reader_, frame, is_full_range(frame), flags, *grey_)) {
    const char* format = av_get_pix_fmt_name(static_cast<AVPixelFormat>(frame.format));
    throw Error(ErrorCode::kUnsupported, name_,
                std::string("cannot read pictures of pixel format ") +
                    (format == nullptr ? "unknown" : format));
  }
  return *grey_;
}

void LumaConverter::read_grey(const AVFrame& frame, const Layout& layout, PictureSize size) {
  if (!layout.direct) {
    read_scaled(frame, size);
    return;
  }
  reserve(grey_, size);
  read_direct(frame, layout, grey_->data[0], grey_->linesize[0]);
}

const AVFrame& LumaConverter::scale_grey(const AVFrame& grey, PictureSize size) {
  reserve(scaled_, size);
  if (!scale(scaler_, grey, true, SWS_BICUBIC | SWS_ACCURATE_RND, *scaled_)) {
    throw Error(ErrorCode::kInternal, name_, "swscale cannot scale grey pictures");
  }
  return *scaled_;
}

LumaConverter::Picture LumaConverter::convert(const AVFrame& frame, AVRational sample_aspect,
                                              Orientation orientation) {
  const PictureSize stored{frame.width, frame.height};
  const PictureSize square = square_pixels(stored, sample_aspect);
  if (std::int64_t{square.width} * square.height > max_pixels_) {
    throw Error(ErrorCode::kUnsupported, name_,
                "a picture of " + std::to_string(square.width) + " x " +
                    std::to_string(square.height) + " pixels is above the limit of " +
                    std::to_string(max_pixels_));
  }
  const PictureSize shown = orientation.apply(square);
  Picture picture{pictures_.take({shown.height, shown.width})};
  std::uint8_t* const luma = picture.luma.data();
  const Layout layout = layout_of(frame.format);
  const std::optional<Field> first = first_field(frame);
  if (layout.direct && square == stored && orientation.is_identity() && !first) {
    read_direct(frame, layout, luma, shown.width);
  } else if (!layout.direct && !first) {
    copy_oriented(read_scaled(frame, square), orientation, luma);
  } else {
    read_grey(frame, layout, stored);
    if (first) {
      const Field field = field_choice_.choose(*grey_, *first);
      picture.is_second_field = field != *first;
      keep_field(field, *grey_);
    }
    const AVFrame& whole = square == stored ? *grey_ : scale_grey(*grey_, square);
    copy_oriented(whole, orientation, luma);
  }
  return picture;
}

}  // namespace av_fusion
