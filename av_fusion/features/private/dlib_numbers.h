// Copyright 2026 The av_fusion authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <istream>
#include <vector>

namespace av_fusion {

/// Reads the numbers of a file that dlib's `serialize` wrote, one after the other, some ten times
/// as fast as dlib, whose models hold millions. A whole number is a byte that says how many bytes
/// follow, with the sign in its highest bit, and those bytes, lowest first; a floating-point number
/// is two of them, mantissa and power of two. Members throw `std::invalid_argument` where the file
/// ends or holds something else. Reads ahead of what it returns. For one thread at a time.
class DlibNumbers {
 public:
  /// `stream` must outlive the object.
  explicit DlibNumbers(std::istream& stream);

  std::int64_t read_integer();

  /// Never infinite, never NaN.
  float read_float();

 private:
  void fill();

  std::istream& stream_;
  std::vector<unsigned char> bytes_;
  std::size_t at_ = 0, end_ = 0;
};

}  // namespace av_fusion
