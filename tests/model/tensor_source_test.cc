// Copyright 2026 The av_fusion authors. SPDX-License-Identifier: Apache-2.0
#include "av_fusion/model/private/tensor_source.h"

#include <gtest/gtest.h>

#include "weights_file_builder.h"

namespace av_fusion {
namespace {

using namespace std::string_literals;

WeightsFile two_numbers() {
  return WeightsFile::from_bytes(
      make_file(R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]},)"
                R"("b":{"dtype":"F16","shape":[1,1],"data_offsets":[4,6]}})",
                "\x00\x00\x80\x3f\x00\x7c"s),  // 1, infinity
      "two");
}

TEST(TensorSource, NamesWhatNobodyTook) {
  const WeightsFile file = two_numbers();
  TensorSource source(file);
  EXPECT_EQ(source.take("a", {1}).elements()[0], 1.0f);
  expect_error([&] { source.expect_all_taken(); }, ErrorCode::kCorruptData,
               {"two", "does not know", "\"b\""});
}

TEST(TensorSource, IsContentOnceEverythingIsTaken) {
  const WeightsFile file = WeightsFile::from_bytes(make_file("{}", ""), "none");
  EXPECT_NO_THROW(TensorSource(file).expect_all_taken());
}

TEST(TensorSource, ChecksWhatItHandsOut) {
  const WeightsFile file = two_numbers();
  TensorSource source(file);
  expect_error([&] { source.take("c", {1}); }, ErrorCode::kNotFound, {"two", "\"c\""});
  expect_error([&] { source.take("a", {2}); }, ErrorCode::kShapeMismatch,
               {"two", "\"a\"", "expected [2], got [1]"});
  expect_error(
      [&] {
        source.take("b", {1, 1});
      },
      ErrorCode::kCorruptData, {"two", "\"b\"", "not finite"});
}

}  // namespace
}  // namespace av_fusion
