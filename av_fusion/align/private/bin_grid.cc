// Copyright 2026 The av_fusion authors. SPDX-License-Identifier: Apache-2.0
#include "av_fusion/align/private/bin_grid.h"

#include <numeric>
#include <string>

#include "av_fusion/core/error.h"
#include "av_fusion/core/format_fixed.h"

namespace av_fusion {
namespace {

constexpr std::int64_t kLongestBinUs = 1'000'000;

}  // namespace

BinGrid::BinGrid(const AlignmentOptions& options)
    : bin_length{std::gcd(std::gcd(options.window.us, options.hop.us), kLongestBinUs)} {
  if (bin_length < options.tick_hop) {
    throw Error(ErrorCode::kInvalidArgument, "alignment options",
                "window " + format_fixed(options.window.seconds(), 3) + " s and hop " +
                    format_fixed(options.hop.seconds(), 3) +
                    " s must be whole multiples of a step that divides one second and is at "
                    "least one picture tick (" +
                    format_fixed(options.tick_hop.ms(), 0) + " ms) long, such as 100 ms");
  }
  window_bins = options.window.us / bin_length.us;
  hop_bins = options.hop.us / bin_length.us;
}

std::int64_t BinGrid::bin_of(MediaTime time) const {
  return floor_divide((time - anchor).us, bin_length.us);
}

std::int64_t BinGrid::stretch_of(std::int64_t bin) const {
  return floor_divide(bin, hop_bins) * hop_bins;
}

}  // namespace av_fusion
