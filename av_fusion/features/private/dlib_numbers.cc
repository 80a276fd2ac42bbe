// Copyright 2026 The av_fusion authors. SPDX-License-Identifier: Apache-2.0
#include "av_fusion/features/private/dlib_numbers.h"

#include <bit>
#include <cmath>
#include <cstring>
#include <stdexcept>

namespace av_fusion {
namespace {

constexpr std::size_t kBlockBytes = 1 << 16;
constexpr std::size_t kLongestBytes = 9;  // of a whole number
constexpr unsigned char kNegative = 0x80, kSize = 0x0f;
// Powers beyond belong to no float; dlib marks infinities and NaN with such.
constexpr std::int64_t kLargestPower = 500;

[[noreturn]] void refuse(const char* why) { throw std::invalid_argument(why); }

std::uint64_t little_endian(const unsigned char* bytes) {
  std::uint64_t value = 0;
  if constexpr (std::endian::native == std::endian::little) {
    std::memcpy(&value, bytes, sizeof(value));
  } else {
    for (int i = 7; i >= 0; --i) value = value << 8 | bytes[i];
  }
  return value;
}

}  // namespace

DlibNumbers::DlibNumbers(std::istream& stream)
    : stream_(stream), bytes_(kBlockBytes + kLongestBytes) {}

/// What is left moves to the front, and the next block comes after it.
void DlibNumbers::fill() {
  const std::size_t left = end_ - at_;
  std::memmove(bytes_.data(), bytes_.data() + at_, left);
  stream_.read(reinterpret_cast<char*>(bytes_.data() + left),
               static_cast<std::streamsize>(kBlockBytes - left));
  at_ = 0;
  end_ = left + static_cast<std::size_t>(stream_.gcount());
}

std::int64_t DlibNumbers::read_integer() {
  if (end_ - at_ < kLongestBytes) fill();
  if (at_ == end_) refuse("it ends too early");
  const unsigned char head = bytes_[at_];
  const std::size_t size = head & kSize;
  if (size < 1 || size > 8 || (head & ~(kNegative | kSize)) != 0) {
    refuse("something in it is not a number");
  }
  if (end_ - at_ < 1 + size) refuse("it ends too early");
  const std::uint64_t value = little_endian(bytes_.data() + at_ + 1) & (~0ULL >> (64 - 8 * size));
  if (value > static_cast<std::uint64_t>(INT64_MAX)) refuse("a number in it is too large");
  at_ += 1 + size;
  const auto magnitude = static_cast<std::int64_t>(value);
  return (head & kNegative) != 0 ? -magnitude : magnitude;
}

float DlibNumbers::read_float() {
  const auto mantissa = static_cast<double>(read_integer());
  const std::int64_t power = read_integer();
  if (power < -kLargestPower || power > kLargestPower) refuse("a number in it makes no sense");
  const auto scale = std::bit_cast<double>(static_cast<std::uint64_t>(1023 + power) << 52);
  const auto value = static_cast<float>(mantissa * scale);
  if (!std::isfinite(value)) refuse("a number in it makes no sense");
  return value;
}

}  // namespace av_fusion
