// Copyright 2026 The av_fusion authors. SPDX-License-Identifier: Apache-2.0
#include "av_fusion/nn/weights_file.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <bit>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <limits>

#include "tests/nn/weights_file_builder.h"

namespace av_fusion {
namespace {

using namespace std::string_literals;

constexpr char kName[] = "some.safetensors";

WeightsFile parse(const Bytes& bytes) { return WeightsFile::from_bytes(bytes, kName); }

void expect_corrupt(const Bytes& bytes, std::vector<std::string> words) {
  words.push_back(kName);
  expect_error([&] { parse(bytes); }, ErrorCode::kCorruptData, words);
}

/// A file that no other run of this program writes.
std::string path_of_own(const std::string& name) {
  return ::testing::TempDir() + "av_fusion_" + std::to_string(getpid()) + "_" + name;
}

/// A header with one tensor "w".
std::string one_tensor(const std::string& type, const std::string& shape,
                       const std::string& offsets) {
  return R"({"w":{"dtype":)" + type + R"(,"shape":)" + shape + R"(,"data_offsets":)" + offsets +
         "}}";
}

/// A header with tensors "a" and "b" of one byte an element.
std::string two_tensors(const std::string& a, const std::string& a_size, const std::string& b,
                        const std::string& b_size) {
  return R"({"a":{"dtype":"U8","shape":[)" + a_size + R"(],"data_offsets":)" + a +
         R"(},"b":{"dtype":"U8","shape":[)" + b_size + R"(],"data_offsets":)" + b + "}}";
}

TEST(WeightsFile, ReadsEveryTypeItPromises) {
  const std::string header = R"({"__metadata__":{"format":"x","note":"\u00e9"},)"
                             R"("f32":{"dtype":"F32","shape":[2,1],"data_offsets":[0,8]},)"
                             R"("f16":{"dtype":"F16","shape":[2],"data_offsets":[8,12]},)"
                             R"("bf16":{"dtype":"BF16","shape":[1],"data_offsets":[12,14]},)"
                             R"("u8":{"dtype":"U8","shape":[2],"data_offsets":[14,16]},)"
                             R"("i64":{"dtype":"I64","shape":[],"data_offsets":[16,24]},)"
                             R"("none":{"dtype":"F32","shape":[0,7],"data_offsets":[16,16]}}   )";
  const std::string data =
      "\x00\x00\x80\x3f\x00\x00\x00\xc0"s   // 1, -2
      "\x01\x00\x00\x7c"s                   // 2^-24, infinity
      "\x80\x3f"s                           // 1
      "\x07\xff"s                           // 7, 255
      "\xfe\xff\xff\xff\xff\xff\xff\xff"s;  // -2
  const WeightsFile file = parse(make_file(header, data));

  EXPECT_EQ(file.name(), kName);
  EXPECT_EQ(file.metadata().at("format"), "x");
  EXPECT_EQ(file.metadata().at("note"), "\xc3\xa9");
  EXPECT_EQ(file.names(), (std::vector<std::string>{"bf16", "f16", "f32", "i64", "none", "u8"}));
  EXPECT_TRUE(file.contains("f32"));
  EXPECT_FALSE(file.contains("__metadata__"));
  EXPECT_EQ(file.shape("none"), (Shape{0, 7}));
  EXPECT_EQ(file.bytes().size(), 8 + header.size() + data.size());

  const Tensor<float> f32 = file.tensor("f32");
  EXPECT_EQ(f32.shape(), (Shape{2, 1}));
  EXPECT_EQ(f32.elements()[0], 1.0f);
  EXPECT_EQ(f32.elements()[1], -2.0f);
  EXPECT_EQ(file.tensor("f16").elements()[0], 0x1p-24f);
  EXPECT_EQ(file.tensor("f16").elements()[1], std::numeric_limits<float>::infinity());
  EXPECT_EQ(file.tensor("bf16").elements()[0], 1.0f);
  EXPECT_EQ(file.tensor_u8("u8").elements()[1], 255);
  EXPECT_EQ(file.tensor_i64("i64").elements()[0], -2);
  EXPECT_EQ(file.tensor("none").num_elements(), 0);
}

TEST(WeightsFile, AcceptsAFileWithoutTensors) {
  EXPECT_TRUE(parse(make_file("{}", "")).names().empty());
}

TEST(WeightsFile, NamesTensorsThatAreMissingOrOfAnotherType) {
  const WeightsFile file = parse(make_file(one_tensor(R"("I64")", "[1]", "[0,8]"), "12345678"));
  expect_error([&] { file.tensor("v"); }, ErrorCode::kNotFound, {kName, "\"v\""});
  expect_error([&] { file.shape("v"); }, ErrorCode::kNotFound, {kName, "\"v\""});
  expect_error([&] { file.tensor("w"); }, ErrorCode::kUnsupported, {kName, "\"w\"", "I64"});
  expect_error([&] { file.tensor_u8("w"); }, ErrorCode::kUnsupported,
               {kName, "\"w\"", "I64", "U8"});
}

TEST(WeightsFile, RefusesALyingHeaderLength) {
  expect_corrupt({}, {"at least 8 bytes"});
  expect_corrupt(to_bytes("1234567"), {"at least 8 bytes", "7"});
  expect_corrupt(make_file("{}", "", 3), {"claims 3 bytes", "only 2"});
  expect_corrupt(make_file("{}", "", ~std::uint64_t{0}), {"claims 18446744073709551615"});
  expect_corrupt(make_file("{}", "", std::uint64_t{1} << 63), {"claims 9223372036854775808"});
  expect_corrupt(make_file("{}", "", 1), {"not JSON"});
  expect_corrupt(make_file("", "", 0), {"not a JSON object"});
  expect_corrupt(make_file("{}", "", 100'000'000), {"claims 100000000", "only 2"});
  expect_corrupt(make_file("{}", "", 100'000'001), {"claims 100000001", "allows only 100000000"});
}

TEST(WeightsFile, RefusesAHeaderThatIsNotTheRightJson) {
  expect_corrupt(make_file("[1]", ""), {"not a JSON object"});
  expect_corrupt(make_file(" {}", ""), {"not a JSON object"});
  expect_corrupt(make_file(R"({"a":)", ""), {"not JSON"});
  expect_corrupt(make_file("{} {}", ""), {"not JSON"});
  expect_corrupt(make_file("{\"\xff\":1}", ""), {"not JSON"});
  expect_corrupt(make_file(R"({"a":1e999})", ""), {"not JSON"});
  expect_corrupt(make_file(R"({"w":7})", ""), {"\"w\"", "dtype"});
  expect_corrupt(make_file(R"({"w":{"dtype":"F32","shape":[]}})", "1234"),
                 {"\"w\"", "data_offsets"});
  expect_corrupt(
      make_file(R"({"w":{"dtype":"U8","shape":[1],"data_offsets":[0,1],"more":0}})", "1"),
      {"\"w\""});
  expect_corrupt(make_file(R"({"__metadata__":{"a":1}})", ""), {"__metadata__"});
  expect_corrupt(make_file(R"({"__metadata__":"a"})", ""), {"__metadata__"});
  expect_corrupt(make_file(R"({"w":)" + std::string(100'000, '['), ""), {"nested too deeply"});
}

TEST(WeightsFile, RefusesDuplicateKeys) {
  const std::string w = R"("w":{"dtype":"U8","shape":[1],"data_offsets":[0,1]})";
  expect_corrupt(make_file("{" + w + "," + w + "}", "1"), {"\"w\" twice"});
  expect_corrupt(
      make_file(R"({"w":{"dtype":"U8","shape":[1],"shape":[2],"data_offsets":[0,1]}})", "1"),
      {"\"shape\" twice"});
  expect_corrupt(make_file(R"({"__metadata__":{"a":"1","a":"2"}})", ""), {"\"a\" twice"});
  // The same key in different objects is how the format works.
  EXPECT_NO_THROW(parse(make_file(two_tensors("[0,1]", "1", "[1,2]", "1"), "12")));
}

TEST(WeightsFile, RefusesTypesAndShapesThatDoNotExist) {
  expect_corrupt(make_file(one_tensor(R"("F31")", "[1]", "[0,4]"), "1234"), {"\"w\"", "\"F31\""});
  expect_corrupt(make_file(one_tensor("4", "[1]", "[0,4]"), "1234"), {"\"w\"", "dtype"});
  for (const char* shape : {"[-1]", "[1.0]", "[\"1\"]", "1", "[[1]]", "null", "[1e0]",
                            "[9223372036854775808]", "[99999999999999999999]"}) {
    SCOPED_TRACE(shape);
    expect_corrupt(make_file(one_tensor(R"("F32")", shape, "[0,4]"), "1234"), {"\"w\"", "shape"});
  }
  expect_error([] { parse(make_file(one_tensor(R"("U8")", "[1,1,1,1,1,1,1]", "[0,1]"), "1")); },
               ErrorCode::kUnsupported, {kName, "\"w\"", "7 axes"});
}

TEST(WeightsFile, RefusesSizesThatDisagreeWithTheBytes) {
  const auto size_of = [](const std::string& shape) {
    return make_file(one_tensor(R"("F32")", shape, "[0,8]"), "12345678");
  };
  EXPECT_NO_THROW(parse(size_of("[2]")));
  for (const char* shape : {"[]", "[1]", "[3]", "[0]", "[2,2]", "[4611686018427387904]"}) {
    SCOPED_TRACE(shape);
    expect_corrupt(size_of(shape), {"\"w\"", "8 bytes"});
  }
  // 2^64 bytes, which are 0 after an overflow.
  for (const char* shape : {"[4611686018427387904]", "[2305843009213693952,2]"}) {
    SCOPED_TRACE(shape);
    expect_corrupt(make_file(one_tensor(R"("F32")", shape, "[0,0]"), ""), {"\"w\"", "0 bytes"});
  }
}

TEST(WeightsFile, RefusesShapesThatCannotBeCounted) {
  // The first two would have 2 elements after an overflow of 64 bits. The others have none, but
  // their strides would overflow.
  for (const char* shape : {"[4611686018427387904,4,2]", "[4294967296,4294967296,2]",
                            "[0,4611686018427387904,2]", "[4611686018427387904,4,0]"}) {
    SCOPED_TRACE(shape);
    expect_corrupt(make_file(one_tensor(R"("F32")", shape, "[0,0]"), ""),
                   {"\"w\"", "2^62 elements"});
  }
  const WeightsFile file =
      parse(make_file(one_tensor(R"("F32")", "[2305843009213693952,2,0]", "[0,0]"), ""));
  EXPECT_TRUE(file.tensor("w").view().empty());
}

TEST(WeightsFile, RefusesOffsetsOutsideOfTheFile) {
  for (const char* offsets :
       {"[-4,0]", "[0,-4]", "[0]", "[0,4,8]", "[0.0,4.0]", "4", "[null,4]", "[0,\"4\"]"}) {
    SCOPED_TRACE(offsets);
    expect_corrupt(make_file(one_tensor(R"("F32")", "[1]", offsets), "1234"),
                   {"\"w\"", "data_offsets"});
  }
  expect_corrupt(make_file(one_tensor(R"("F32")", "[1]", "[4,0]"), "1234"),
                 {"\"w\"", "ends before it begins"});
  expect_corrupt(make_file(one_tensor(R"("F32")", "[1]", "[0,4]"), "123"),
                 {"\"w\"", "holds only 3", "truncated"});
  expect_corrupt(make_file(one_tensor(R"("F32")", "[1]", "[4,8]"), "1234"),
                 {"\"w\"", "holds only 4"});
  expect_corrupt(
      make_file(one_tensor(R"("F32")", "[1]", "[18446744073709551612,18446744073709551615]"),
                "1234"),
      {"\"w\"", "holds only 4"});
}

TEST(WeightsFile, RefusesOverlapsAndGaps) {
  EXPECT_NO_THROW(parse(make_file(two_tensors("[2,4]", "2", "[0,2]", "2"), "1234")));
  expect_corrupt(make_file(two_tensors("[0,2]", "2", "[1,4]", "3"), "1234"),
                 {"\"b\" overlaps tensor \"a\""});
  expect_corrupt(make_file(two_tensors("[0,4]", "4", "[0,4]", "4"), "1234"), {"overlaps"});
  expect_corrupt(make_file(two_tensors("[0,1]", "1", "[2,4]", "2"), "1234"),
                 {"\"b\"", "1 bytes", "no tensor"});
  expect_corrupt(make_file(two_tensors("[1,2]", "1", "[2,4]", "2"), "1234"),
                 {"\"a\"", "1 bytes", "no tensor"});
  expect_corrupt(make_file(two_tensors("[0,1]", "1", "[1,3]", "2"), "1234"),
                 {"last 1 bytes", "no tensor"});
  expect_corrupt(make_file("{}", "12"), {"last 2 bytes", "no tensor"});
}

TEST(WeightsFile, KeepsHostileNamesReadable) {
  const std::string name = "new\\nline" + std::string(5000, 'x');
  const Bytes bytes =
      make_file(R"({")" + name + R"(":{"dtype":"?","shape":[1],"data_offsets":[0,1]}})", "1");
  try {
    parse(bytes);
    FAIL();
  } catch (const Error& error) {
    const std::string text = error.what();
    EXPECT_EQ(text.find('\n'), std::string::npos);
    EXPECT_LT(text.size(), 300u);
  }
}

TEST(WeightsFile, EveryTruncationIsOneError) {
  const Bytes whole = read_file(AV_FUSION_TEST_DATA_DIR "/attention_packed_f16.safetensors");
  EXPECT_NO_THROW(parse(whole));
  for (std::size_t size = 0; size < whole.size(); size += size < 64 ? 1 : 97) {
    SCOPED_TRACE(size);
    expect_corrupt(Bytes(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size)), {});
  }
}

TEST(WeightsFile, ADamagedHeaderByteIsAnErrorOrHarmless) {
  const Bytes whole = read_file(AV_FUSION_TEST_DATA_DIR "/attention_packed_f16.safetensors");
  for (std::size_t at = 0; at < 700; at += 1) {
    for (const int flip : {0x01, 0x10, 0x80}) {
      Bytes damaged = whole;
      damaged[at] ^= static_cast<std::byte>(flip);
      try {
        const WeightsFile file = parse(damaged);
        for (const std::string& name : file.names()) file.tensor(name);
      } catch (const Error&) {  // anything else ends the test
      }
    }
  }
}

TEST(WeightsFile, OpensAFile) {
  const std::string path = path_of_own("weights.safetensors");
  const Bytes bytes = make_file(one_tensor(R"("U8")", "[3]", "[0,3]"), "abc");
  std::ofstream(path, std::ios::binary)
      .write(reinterpret_cast<const char*>(bytes.data()),
             static_cast<std::streamsize>(bytes.size()));
  const WeightsFile file = WeightsFile::open(path);
  EXPECT_EQ(file.tensor_u8("w").elements()[2], 'c');
  EXPECT_EQ(file.name(), path);
  EXPECT_EQ(file.bytes().size(), bytes.size());
  std::filesystem::remove(path);
}

TEST(WeightsFile, SaysWhyAFileCannotBeOpened) {
  expect_error([] { WeightsFile::open("no/such.safetensors"); }, ErrorCode::kNotFound,
               {"no/such.safetensors"});
  expect_error([] { WeightsFile::open(::testing::TempDir()); }, ErrorCode::kIo,
               {::testing::TempDir()});
  const std::string path = path_of_own("not_weights.txt");
  std::ofstream(path) << "This is not a file with weights, it is a text.";
  expect_error([&] { WeightsFile::open(path); }, ErrorCode::kCorruptData,
               {path, "not a safetensors file"});
  std::ofstream(path) << "";
  expect_error([&] { WeightsFile::open(path); }, ErrorCode::kCorruptData, {path, "8 bytes"});
  std::filesystem::remove(path);
}

}  // namespace
}  // namespace av_fusion
