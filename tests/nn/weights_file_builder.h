// Copyright 2026 The av_fusion authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <iterator>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "av_fusion/core/error.h"
#include "av_fusion/core/shape.h"

namespace av_fusion {

using Bytes = std::vector<std::byte>;

inline Bytes to_bytes(std::string_view text) {
  const auto bytes = std::as_bytes(std::span(text));
  return Bytes(bytes.begin(), bytes.end());
}

/// A safetensors file whose header claims to have `claimed_length` bytes.
inline Bytes make_file(std::string_view header, std::string_view data,
                       std::uint64_t claimed_length) {
  std::string file(sizeof(claimed_length), '\0');
  std::memcpy(file.data(), &claimed_length, sizeof(claimed_length));
  return to_bytes(file.append(header).append(data));
}

inline Bytes make_file(std::string_view header, std::string_view data) {
  return make_file(header, data, header.size());
}

/// A file of F32 tensors whose elements count on from 0 through the whole file.
inline Bytes counting_file(const std::vector<std::pair<std::string, Shape>>& tensors) {
  std::string header;
  std::vector<float> values;
  for (const auto& [name, shape] : tensors) {
    const std::size_t begin = values.size() * sizeof(float);
    for (std::int64_t i = 0; i < shape.num_elements(); ++i) {
      values.push_back(static_cast<float>(values.size()));
    }
    header += (header.empty() ? "{\"" : ",\"") + name + R"(":{"dtype":"F32","shape":)" +
              shape.to_string() + R"(,"data_offsets":[)" + std::to_string(begin) + "," +
              std::to_string(values.size() * sizeof(float)) + "]}";
  }
  return make_file(header + "}",
                   {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(float)});
}

inline Bytes read_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  EXPECT_TRUE(file) << path;
  return to_bytes(std::string(std::istreambuf_iterator<char>(file), {}));
}

/// `file` with the first `from` in its header replaced by `to`; the header may change its length.
inline Bytes edit_header(const Bytes& file, std::string_view from, std::string_view to) {
  const std::string_view text(reinterpret_cast<const char*>(file.data()), file.size());
  std::uint64_t length = 0;
  std::memcpy(&length, text.data(), sizeof(length));
  std::string header(text.substr(sizeof(length), length));
  const std::size_t at = header.find(from);
  EXPECT_NE(at, std::string::npos) << "the header does not have " << from;
  if (at != std::string::npos) header.replace(at, from.size(), to);
  return make_file(header, text.substr(sizeof(length) + length));
}

/// Expects that `call` throws an Error of this code, whose text has all of `words` in it.
template <typename Call>
void expect_error(Call&& call, ErrorCode code, const std::vector<std::string>& words) {
  try {
    call();
  } catch (const Error& error) {
    const std::string text = error.what();
    EXPECT_EQ(to_string(error.code()), to_string(code)) << text;
    for (const std::string& word : words) {
      EXPECT_NE(text.find(word), std::string::npos) << "no \"" << word << "\" in: " << text;
    }
    return;
  }
  ADD_FAILURE() << "nothing was thrown; expected an error about " << words.front();
}

}  // namespace av_fusion
