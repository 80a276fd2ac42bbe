// Copyright 2026 The av_fusion authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

/// Collects named arrays and writes them as one safetensors file: eight bytes with the length of
/// the header (little-endian), the header in JSON, the data.
class SafetensorsWriter {
 public:
  void add(std::string name, std::span<const std::uint8_t> values, std::vector<std::int64_t> shape);
  void add(std::string name, std::span<const float> values, std::vector<std::int64_t> shape);
  void add_metadata(std::string key, std::string value);

  /// Writes to a temporary name beside `path` and renames, so that a file under its final name is
  /// always whole. Throws `av_fusion::Error(kIo)`.
  void write(const std::filesystem::path& path) const;

 private:
  struct Array {
    std::string name;
    std::string_view type;
    std::vector<std::int64_t> shape;
    std::string bytes;
  };
  std::string header() const;

  std::vector<Array> arrays_;
  std::map<std::string, std::string> metadata_;
};
