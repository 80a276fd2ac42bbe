// Copyright 2026 The av_fusion authors. SPDX-License-Identifier: Apache-2.0
#include "av_fusion/features/private/dlib_numbers.h"

#include <dlib/serialize.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

namespace av_fusion {
namespace {

TEST(DlibNumbers, ReadsWhatDlibWrote) {
  std::mt19937_64 random(7);
  std::vector<std::int64_t> integers = {0, 1, -1, 255, 256, -65536, INT64_MAX, -INT64_MAX};
  std::vector<float> floats = {0, 1, -1, 0.1F, -3e38F, 3e38F, 1e-38F, 1e-45F, -16777215};
  for (int i = 0; i < 20000; ++i) {  // more than one block
    integers.push_back(static_cast<std::int64_t>(random() >> 1 >> random() % 63));
    floats.push_back(std::ldexp(static_cast<float>(random() >> 40) - 8388608.0F,
                                static_cast<int>(random() % 100) - 60));
  }
  std::stringstream stream;
  for (const std::int64_t value : integers) dlib::serialize(static_cast<long>(value), stream);
  for (const float value : floats) dlib::serialize(value, stream);
  dlib::serialize(3UL, stream);  // without a sign
  DlibNumbers numbers(stream);
  for (const std::int64_t value : integers) ASSERT_EQ(numbers.read_integer(), value);
  for (const float value : floats) ASSERT_EQ(numbers.read_float(), value);
  EXPECT_EQ(numbers.read_integer(), 3);
  EXPECT_THROW(numbers.read_integer(), std::invalid_argument) << "the end";
}

std::string bytes_of(float value) {
  std::ostringstream stream;
  dlib::serialize(value, stream);
  return stream.str();
}

TEST(DlibNumbers, RefusesWhatIsNoNumber) {
  const auto read = [](const std::string& bytes) {
    std::istringstream stream(bytes);
    return DlibNumbers(stream).read_float();
  };
  EXPECT_EQ(read(bytes_of(0.75F)), 0.75F);
  for (const float value :
       {std::numeric_limits<float>::infinity(), std::numeric_limits<float>::quiet_NaN()}) {
    EXPECT_THROW(read(bytes_of(value)), std::invalid_argument) << value;
  }
  const std::string good = bytes_of(0.7F);
  for (std::size_t length = 0; length < good.size(); ++length) {
    EXPECT_THROW(read(good.substr(0, length)), std::invalid_argument) << length;
  }
  EXPECT_THROW(read(std::string("\x00\x01\x01", 3)), std::invalid_argument) << "no bytes";
  EXPECT_THROW(read("\x09" + std::string(12, '\x01')), std::invalid_argument) << "nine bytes";
  EXPECT_THROW(read("0.7 "), std::invalid_argument) << "text";
  EXPECT_THROW(read("\x08" + std::string(8, '\xff') + "\x01\x01"), std::invalid_argument)
      << "64 bits";
  EXPECT_THROW(read(std::string("\x01\x01\x02\x7f\x01", 5)), std::invalid_argument) << "2^383";
}

}  // namespace
}  // namespace av_fusion
