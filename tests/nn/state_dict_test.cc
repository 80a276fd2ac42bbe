// Copyright 2026 The av_fusion authors. SPDX-License-Identifier: Apache-2.0
#include "av_fusion/nn/state_dict.h"

#include <gtest/gtest.h>

#include <type_traits>

#include "tests/nn/weights_file_builder.h"

namespace av_fusion {
namespace {

using namespace std::string_literals;

/// "a" [1] and "b" [1, 1] with these bits.
WeightsFile two_numbers(const std::string& b_type, const std::string& b_bits) {
  return WeightsFile::from_bytes(
      make_file(R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]},"b":{"dtype":")" + b_type +
                    R"(","shape":[1,1],"data_offsets":[4,)" + std::to_string(4 + b_bits.size()) +
                    "]}}",
                "\x00\x00\x80\x3f"s + b_bits),
      "two");
}

WeightsFile nested() {
  return WeightsFile::from_bytes(counting_file({{"layers.0.weight", {2, 1}},
                                                {"layers.0.bias", {1}},
                                                {"layers.1.weight", {2}},
                                                {"layers.10.weight", {1}},
                                                {"weight", {1}}}),
                                 "nested");
}

TEST(StateDict, NamesWhatNobodyTook) {
  const WeightsFile file = two_numbers("F16", "\x00\x7c"s);
  const StateDict weights(file);
  EXPECT_EQ(weights.take("a", {1}).elements()[0], 1.0f);
  expect_error([&] { weights.expect_all_taken(); }, ErrorCode::kCorruptData,
               {"two", "does not know", "\"b\""});
}

TEST(StateDict, NamesOnlySomeOfMany) {
  std::vector<std::pair<std::string, Shape>> tensors;
  for (const char name : {'a', 'b', 'c', 'd', 'e', 'f', 'g'})
    tensors.emplace_back(std::string(1, name), Shape{1});
  const WeightsFile file = WeightsFile::from_bytes(counting_file(tensors), "many");
  expect_error([&] { StateDict(file).expect_all_taken(); }, ErrorCode::kCorruptData,
               {R"("a", "b", "c", "d", "e" and 2 more)"});
}

TEST(StateDict, IsContentOnceEverythingIsTaken) {
  const WeightsFile none = WeightsFile::from_bytes(make_file("{}", ""), "none");
  EXPECT_NO_THROW(StateDict(none).expect_all_taken());
  const WeightsFile file = two_numbers("BF16", "\x00\x40"s);
  const StateDict weights(file);
  weights.take("a", {1});
  weights.take("a", {1});
  EXPECT_EQ(weights.take("b", {1, 1}).elements()[0], 2.0f);
  EXPECT_NO_THROW(weights.expect_all_taken());
}

TEST(StateDict, ChecksWhatItHandsOut) {
  const WeightsFile file = two_numbers("I64", "12345678");
  const StateDict weights(file);
  expect_error([&] { weights.take("c", {1}); }, ErrorCode::kNotFound, {"two", "\"c\""});
  expect_error([&] { weights.shape("c"); }, ErrorCode::kNotFound, {"two", "\"c\""});
  expect_error([&] { weights.take("a", {2}); }, ErrorCode::kShapeMismatch,
               {"two", "\"a\"", "expected [2], got [1]"});
  const Shape any{kAny, kAny};
  expect_error([&] { weights.take("a", any); }, ErrorCode::kShapeMismatch,
               {"two", "\"a\"", "expected [*, *], got [1]"});
  expect_error([&] { weights.take("b", any); }, ErrorCode::kUnsupported, {"two", "\"b\"", "I64"});
  // What was refused was not taken.
  expect_error([&] { weights.expect_all_taken(); }, ErrorCode::kCorruptData, {"\"a\", \"b\""});
}

TEST(StateDict, RefusesWhatIsNotFinite) {
  const std::pair<std::string, std::string> cases[] = {
      {"F16", "\x00\x7c"s},          // infinity
      {"F16", "\x01\xfc"s},          // NaN
      {"BF16", "\x80\xff"s},         // minus infinity
      {"BF16", "\xc0\x7f"s},         // NaN
      {"F32", "\x00\x00\x80\x7f"s},  // infinity
      {"F32", "\x01\x00\x80\x7f"s},  // a signalling NaN
  };
  for (const auto& [type, bits] : cases) {
    const WeightsFile file = two_numbers(type, bits);
    const Shape one{1, 1};
    expect_error([&] { StateDict(file).take("b", one); }, ErrorCode::kCorruptData,
                 {"two", "\"b\"", "not finite"});
  }
}

TEST(StateDict, SubSeesTheNamesUnderItsPrefix) {
  const WeightsFile file = nested();
  const StateDict all(file);
  const StateDict layer = all.sub("layers.").sub("0.");
  EXPECT_TRUE(layer.contains("weight"));
  EXPECT_FALSE(layer.contains("layers.0.weight"));
  EXPECT_FALSE(all.sub("layers.2.").contains("weight"));
  EXPECT_EQ(layer.shape("weight"), (Shape{2, 1}));
  EXPECT_EQ(layer.take("bias", {1}).elements()[0], 2.0f);
  EXPECT_EQ(layer.full_name("bias"), "layers.0.bias");
  EXPECT_EQ(layer.place("bias"), "nested: tensor \"layers.0.bias\"");
  EXPECT_EQ(&layer.file(), &file);
  expect_error([&] { layer.take("scale", {1}); }, ErrorCode::kNotFound,
               {"nested", "\"layers.0.scale\""});
  expect_error([&] { layer.take("weight", {7}); }, ErrorCode::kShapeMismatch,
               {"nested", "\"layers.0.weight\""});
}

TEST(StateDict, SubsShareTheRecordAndWatchTheirOwnPart) {
  const WeightsFile file = nested();
  const StateDict all(file);
  const StateDict first = all.sub("layers.0.");
  const StateDict second = all.sub("layers.1.");
  second.take("weight", {2});
  EXPECT_NO_THROW(second.expect_all_taken());  // "layers.10.weight" is not its own
  first.take("bias", {1});
  try {
    first.expect_all_taken();
    ADD_FAILURE();
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(),
                 "nested: the file has tensors that this program does not know: "
                 "\"layers.0.weight\"");
  }
  expect_error([&] { all.expect_all_taken(); }, ErrorCode::kCorruptData,
               {R"("layers.0.weight", "layers.10.weight", "weight")"});
  all.take("layers.0.weight", {2, 1});
  EXPECT_NO_THROW(first.expect_all_taken());
}

// A reference to a temporary file would dangle.
static_assert(!std::is_constructible_v<StateDict, WeightsFile>);

}  // namespace
}  // namespace av_fusion
