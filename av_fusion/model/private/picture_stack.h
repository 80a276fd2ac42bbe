// Copyright 2026 The av_fusion authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "av_fusion/core/tensor.h"

namespace av_fusion {

/// Turns mouth pictures into what the video encoder looks at: each picture, averaged over squares
/// of `pool` pixels a side, as change against the local mean picture, in units of that mean's
/// contrast, stacked with its neighbours as channels.
///
///     picture_t  = the pooled picture, 0 is black and 1 is white
///     mean_t     = mean of the pictures t - mean_radius ... t + mean_radius that exist
///     contrast_t = standard deviation of mean_t over its pixels, plus 0.02
///     x_t        = (picture_t - mean_t) / contrast_t, and 0 before the first and after the last
///     channel k of stack t = x_(t + k - stack_radius)
///
/// Sums are kept in integers, so they are exact however long the input is. Keeps a view of the
/// pictures and memory for a few of them.
class PictureStack {
 public:
  /// `pictures` [T, H, W] dense; `pool` divides H and W. The limits on the sizes in
  /// model_metadata.cc keep all sums in range.
  PictureStack(TensorView<const std::uint8_t> pictures, std::int64_t pool, std::int64_t mean_radius,
               std::int64_t stack_radius);

  std::int64_t channels() const noexcept { return channels_; }
  std::int64_t height() const noexcept { return height_; }  ///< of a pooled picture
  std::int64_t width() const noexcept { return width_; }

  /// Writes the next `stacks.dim(0)` stacks; the first call begins with picture 0. `stacks`
  /// [N, height(), width(), channels()] dense.
  void next(TensorView<float> stacks);

 private:
  void add_plane();
  void slide_window(std::int64_t picture);
  void add_to_sums(std::int64_t picture, std::int32_t sign);
  void pool_picture(std::int64_t picture);
  double contrast() const;

  TensorView<const std::uint8_t> pictures_;
  std::int64_t pool_;
  std::int64_t mean_radius_;
  std::int64_t stack_radius_;
  std::int64_t channels_;
  std::int64_t num_pictures_;
  std::int64_t height_;
  std::int64_t width_;
  std::int64_t num_pixels_;        // of a pooled picture
  double white_;                   // the largest value of a pooled pixel
  std::int64_t next_plane_ = 0;    // picture whose plane is made next
  std::int64_t next_stack_ = 0;    // picture whose stack is written next
  std::int64_t window_begin_ = 0;  // pictures summed in `sums_`
  std::int64_t window_end_ = 0;
  std::vector<std::int32_t> pooled_;  // sums over squares, of the picture that was pooled last
  std::vector<std::int32_t> sums_;    // of the pooled pictures of the window
  Tensor<float> planes_;              // [channels, pixels]; x_t is plane t % channels
};

}  // namespace av_fusion
