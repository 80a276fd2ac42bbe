// Copyright 2026 The av_fusion authors. SPDX-License-Identifier: Apache-2.0
#include "safetensors_writer.h"

#include <bit>
#include <fstream>
#include <nlohmann/json.hpp>
#include <system_error>
#include <utility>

#include "av_fusion/core/error.h"

static_assert(std::endian::native == std::endian::little, "safetensors data are little-endian");

namespace {

template <typename T>
std::string to_bytes(std::span<const T> values) {
  const auto bytes = std::as_bytes(values);
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

}  // namespace

void SafetensorsWriter::add(std::string name, std::span<const std::uint8_t> values,
                            std::vector<std::int64_t> shape) {
  arrays_.push_back({std::move(name), "U8", std::move(shape), to_bytes(values)});
}

void SafetensorsWriter::add(std::string name, std::span<const float> values,
                            std::vector<std::int64_t> shape) {
  arrays_.push_back({std::move(name), "F32", std::move(shape), to_bytes(values)});
}

void SafetensorsWriter::add_metadata(std::string key, std::string value) {
  metadata_[std::move(key)] = std::move(value);
}

std::string SafetensorsWriter::header() const {
  nlohmann::ordered_json json;
  if (!metadata_.empty()) json["__metadata__"] = metadata_;
  std::size_t offset = 0;
  for (const Array& array : arrays_) {
    json[array.name] = {{"dtype", array.type},
                        {"shape", array.shape},
                        {"data_offsets", {offset, offset + array.bytes.size()}}};
    offset += array.bytes.size();
  }
  // Names of files may hold anything; what is not UTF-8 is replaced rather than refused.
  std::string text = json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  text.resize((text.size() + 7) / 8 * 8, ' ');
  return text;
}

void SafetensorsWriter::write(const std::filesystem::path& path) const {
  std::filesystem::path temporary = path;
  temporary += ".partial";
  {
    std::ofstream file(temporary, std::ios::binary);
    const std::string text = header();
    const std::uint64_t length = text.size();
    file.write(reinterpret_cast<const char*>(&length), sizeof length);
    file << text;
    for (const Array& array : arrays_) {
      file.write(array.bytes.data(), static_cast<std::streamsize>(array.bytes.size()));
    }
    file.close();
    if (!file) {
      throw av_fusion::Error(av_fusion::ErrorCode::kIo, temporary.string(), "cannot be written");
    }
  }
  std::error_code error;
  std::filesystem::rename(temporary, path, error);
  if (error) throw av_fusion::Error(av_fusion::ErrorCode::kIo, path.string(), error.message());
}
