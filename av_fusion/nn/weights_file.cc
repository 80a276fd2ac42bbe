// Copyright 2026 The av_fusion authors. SPDX-License-Identifier: Apache-2.0
#include "av_fusion/nn/weights_file.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>

#include "av_fusion/core/error.h"
#include "av_fusion/core/in_quotes.h"
#include "av_fusion/nn/private/half_float.h"

namespace av_fusion {
namespace {

using nlohmann::json;

static_assert(std::endian::native == std::endian::little, "safetensors files are little-endian");

constexpr std::size_t kLengthBytes = 8;
constexpr std::uint64_t kMaxHeaderBytes = 100'000'000;        // the limit of the format
constexpr int kMaxHeaderDepth = 4;                            // file, tensor, shape, number
constexpr std::int64_t kMaxElements = std::int64_t{1} << 62;  // as in Shape

[[noreturn]] void fail(const std::string& file, const std::string& message) {
  throw Error(ErrorCode::kCorruptData, file, message);
}

[[noreturn]] void fail(const std::string& file, std::string_view tensor,
                       const std::string& message) {
  fail(file, "tensor " + in_quotes(tensor) + " " + message);
}

/// Bytes of an element, or 0 if the format has no such type.
std::uint64_t element_size(std::string_view type) {
  constexpr std::pair<std::string_view, std::uint64_t> kSizes[] = {
      {"BOOL", 1}, {"U8", 1},  {"I8", 1},  {"F8_E5M2", 1}, {"F8_E4M3", 1},
      {"I16", 2},  {"U16", 2}, {"F16", 2}, {"BF16", 2},    {"I32", 4},
      {"U32", 4},  {"F32", 4}, {"F64", 8}, {"I64", 8},     {"U64", 8}};
  for (const auto& [name, size] : kSizes) {
    if (name == type) return size;
  }
  return 0;
}

/// The length of the header that the first bytes of a file of `file_size` bytes announce.
std::size_t header_length(std::span<const std::byte> start, std::uint64_t file_size,
                          const std::string& file) {
  if (start.size() < kLengthBytes) {
    fail(file,
         "a safetensors file has at least 8 bytes, this one has " + std::to_string(start.size()));
  }
  std::uint64_t length = 0;
  std::memcpy(&length, start.data(), kLengthBytes);
  const std::string claim = "the header claims " + std::to_string(length) + " bytes, but ";
  if (length > kMaxHeaderBytes) {
    fail(file, claim + "the format allows only " + std::to_string(kMaxHeaderBytes) +
                   " (not a safetensors file?)");
  }
  if (length > file_size - kLengthBytes) {
    fail(file, claim + "only " + std::to_string(file_size - kLengthBytes) +
                   " follow (a truncated file, or not a safetensors file)");
  }
  return static_cast<std::size_t>(length);
}

/// Parses the header; unlike plain JSON, a key must not come twice.
json parse_json(std::string_view text, const std::string& file) {
  std::vector<std::set<std::string>> keys;  // of the objects that are open
  const auto watch = [&](int depth, json::parse_event_t event, json& value) {
    if (depth > kMaxHeaderDepth) fail(file, "the header is nested too deeply");
    if (event == json::parse_event_t::object_start) keys.emplace_back();
    if (event == json::parse_event_t::object_end) keys.pop_back();
    if (event == json::parse_event_t::key) {
      const auto& key = value.get_ref<const std::string&>();
      if (!keys.back().insert(key).second) {
        fail(file, "the header has " + in_quotes(key) + " twice");
      }
    }
    return true;
  };
  try {
    return json::parse(text, watch);
  } catch (const json::exception& error) {
    const auto* syntax = dynamic_cast<const json::parse_error*>(&error);
    fail(file, "the header is not JSON" +
                   (syntax ? " (byte " + std::to_string(syntax->byte) + ")" : std::string()));
  }
}

const std::string& parse_type(const json& entry, const std::string& file,
                              const std::string& tensor) {
  const json& type = entry["dtype"];
  if (!type.is_string()) fail(file, tensor, "has a \"dtype\" that is not text");
  const auto& name = type.get_ref<const std::string&>();
  if (element_size(name) == 0) fail(file, tensor, "has the unknown type " + in_quotes(name));
  return name;
}

Shape parse_shape(const json& entry, const std::string& file, const std::string& tensor) {
  const json& shape = entry["shape"];
  std::vector<std::int64_t> extents;
  const auto valid = [](const json& extent) {
    return extent.is_number_unsigned() && extent.get<std::uint64_t>() <= kMaxElements;
  };
  if (!shape.is_array() || !std::all_of(shape.begin(), shape.end(), valid)) {
    fail(file, tensor, "has a \"shape\" that is not a list of sizes");
  }
  if (shape.size() > static_cast<std::size_t>(Shape::kMaxRank)) {
    throw Error(ErrorCode::kUnsupported, file,
                "tensor " + in_quotes(tensor) + " has " + std::to_string(shape.size()) +
                    " axes; at most " + std::to_string(Shape::kMaxRank) + " are supported");
  }
  std::int64_t elements = 1;  // empty axes count as 1: strides must not overflow either
  for (const json& extent : shape) {
    extents.push_back(extent.get<std::int64_t>());
    const std::int64_t count = std::max<std::int64_t>(extents.back(), 1);
    if (elements > kMaxElements / count)
      fail(file, tensor, "has a \"shape\" of more than 2^62 elements");
    elements *= count;
  }
  return Shape(std::span<const std::int64_t>(extents));
}

/// Begin and end in the data section, which has `data_size` bytes.
std::pair<std::uint64_t, std::uint64_t> parse_offsets(const json& entry, std::uint64_t data_size,
                                                      const std::string& file,
                                                      const std::string& tensor) {
  const json& offsets = entry["data_offsets"];
  if (!offsets.is_array() || offsets.size() != 2 || !offsets[0].is_number_unsigned() ||
      !offsets[1].is_number_unsigned()) {
    fail(file, tensor, "has \"data_offsets\" that are not two byte positions");
  }
  const auto begin = offsets[0].get<std::uint64_t>();
  const auto end = offsets[1].get<std::uint64_t>();
  const std::string range = "[" + std::to_string(begin) + ", " + std::to_string(end) + ")";
  if (begin > end) {
    fail(file, tensor, "has its bytes at " + range + ", which ends before it begins");
  }
  if (end > data_size) {
    fail(file, tensor,
         "has its bytes at " + range + ", but the file holds only " + std::to_string(data_size) +
             " (is it truncated?)");
  }
  return {begin, end};
}

/// Whether elements of `size` bytes in `shape` fill `bytes` exactly, without overflow.
bool fills(const Shape& shape, std::uint64_t size, std::uint64_t bytes) {
  const auto extents = shape.extents();
  if (std::find(extents.begin(), extents.end(), 0) != extents.end()) return bytes == 0;
  std::uint64_t needed = size;
  for (const std::int64_t extent : extents) {
    const auto count = static_cast<std::uint64_t>(extent);
    if (count > bytes / needed) return false;
    needed *= count;
  }
  return needed == bytes;
}

}  // namespace

WeightsFile WeightsFile::open(const std::filesystem::path& path) {
  const std::string name = path.string();
  std::error_code error;
  if (!std::filesystem::exists(path, error)) {
    throw Error(ErrorCode::kNotFound, name, "there is no such file");
  }
  const std::uintmax_t size = std::filesystem::file_size(path, error);
  std::ifstream file(path, std::ios::binary);
  if (error || !file) throw Error(ErrorCode::kIo, name, "the file cannot be read");

  // The start is checked first, so that a large file of another kind is not read.
  std::vector<std::byte> bytes(static_cast<std::size_t>(std::min<std::uintmax_t>(size, 8)));
  const auto read = [&](std::size_t from) {
    file.read(reinterpret_cast<char*>(bytes.data() + from),
              static_cast<std::streamsize>(bytes.size() - from));
    if (!file) throw Error(ErrorCode::kIo, name, "reading the file failed");
  };
  read(0);
  header_length(bytes, size, name);
  bytes.resize(static_cast<std::size_t>(size));
  read(kLengthBytes);
  return WeightsFile(std::move(bytes), name);
}

WeightsFile WeightsFile::from_bytes(std::span<const std::byte> bytes, std::string name) {
  return WeightsFile(std::vector<std::byte>(bytes.begin(), bytes.end()), std::move(name));
}

WeightsFile::WeightsFile(std::vector<std::byte> bytes, std::string name)
    : name_(std::move(name)), bytes_(std::move(bytes)) {
  const std::size_t length = header_length(bytes_, bytes_.size(), name_);
  parse_header(length);
  check_layout(kLengthBytes + length);
}

void WeightsFile::parse_header(std::size_t length) {
  const std::string_view text(reinterpret_cast<const char*>(bytes_.data()) + kLengthBytes, length);
  if (text.empty() || text.front() != '{') fail(name_, "the header is not a JSON object");
  const json header = parse_json(text, name_);
  const std::size_t data_begin = kLengthBytes + length;
  for (const auto& [key, value] : header.items()) {
    if (key == "__metadata__") {
      const auto is_text = [](const json& item) { return item.is_string(); };
      if (!value.is_object() || !std::all_of(value.begin(), value.end(), is_text)) {
        fail(name_, "\"__metadata__\" is not an object of texts");
      }
      for (const auto& [name, content] : value.items()) {
        metadata_.emplace(name, content.get_ref<const std::string&>());
      }
      continue;
    }
    if (!value.is_object() || value.size() != 3 || !value.contains("dtype") ||
        !value.contains("shape") || !value.contains("data_offsets")) {
      fail(name_, key, "is not described by \"dtype\", \"shape\" and \"data_offsets\"");
    }
    Entry entry{parse_type(value, name_, key), parse_shape(value, name_, key), 0, 0};
    const auto [begin, end] = parse_offsets(value, bytes_.size() - data_begin, name_, key);
    if (!fills(entry.shape, element_size(entry.type), end - begin)) {
      fail(name_, key,
           "of type " + entry.type + " and shape " + entry.shape.to_string() +
               " does not fit into its " + std::to_string(end - begin) + " bytes");
    }
    entry.begin = data_begin + static_cast<std::size_t>(begin);
    entry.end = data_begin + static_cast<std::size_t>(end);
    entries_.emplace(key, std::move(entry));
  }
}

void WeightsFile::check_layout(std::size_t data_begin) const {
  std::vector<std::pair<std::string_view, const Entry*>> order;
  for (const auto& [name, entry] : entries_) order.emplace_back(name, &entry);
  std::sort(order.begin(), order.end(), [](const auto& a, const auto& b) {
    return std::pair(a.second->begin, a.second->end) < std::pair(b.second->begin, b.second->end);
  });
  std::size_t at = data_begin;
  std::string_view before;
  for (const auto& [name, entry] : order) {
    if (entry->begin < at) fail(name_, name, "overlaps tensor " + in_quotes(before));
    if (entry->begin > at) {
      fail(name_, name,
           "comes after " + std::to_string(entry->begin - at) + " bytes that belong to no tensor");
    }
    at = entry->end;
    before = name;
  }
  if (at != bytes_.size()) {
    fail(name_, "the last " + std::to_string(bytes_.size() - at) + " bytes belong to no tensor");
  }
}

std::vector<std::string> WeightsFile::names() const {
  std::vector<std::string> names;
  for (const auto& [name, entry] : entries_) names.push_back(name);
  return names;
}

const WeightsFile::Entry& WeightsFile::entry(std::string_view name) const {
  const auto found = entries_.find(name);
  if (found == entries_.end()) {
    throw Error(ErrorCode::kNotFound, name_, "there is no tensor " + in_quotes(name));
  }
  return found->second;
}

template <typename T>
Tensor<T> WeightsFile::read_plain(std::string_view name, std::string_view type) const {
  const Entry& from = entry(name);
  if (from.type != type) {
    throw Error(
        ErrorCode::kUnsupported, name_,
        "tensor " + in_quotes(name) + " has type " + from.type + ", expected " + std::string(type));
  }
  Tensor<T> tensor(from.shape);
  if (!tensor.empty()) {
    std::memcpy(tensor.data(), bytes_.data() + from.begin, from.end - from.begin);
  }
  return tensor;
}

Tensor<std::uint8_t> WeightsFile::tensor_u8(std::string_view name) const {
  return read_plain<std::uint8_t>(name, "U8");
}

Tensor<std::int64_t> WeightsFile::tensor_i64(std::string_view name) const {
  return read_plain<std::int64_t>(name, "I64");
}

Tensor<float> WeightsFile::tensor(std::string_view name) const {
  const Entry& from = entry(name);
  if (from.type == "F32") return read_plain<float>(name, "F32");
  if (from.type != "F16" && from.type != "BF16") {
    throw Error(
        ErrorCode::kUnsupported, name_,
        "tensor " + in_quotes(name) + " has type " + from.type + ", expected F32, F16 or BF16");
  }
  const auto convert = from.type == "F16" ? from_f16 : from_bf16;
  Tensor<float> tensor(from.shape);
  const std::byte* at = bytes_.data() + from.begin;
  for (float& value : tensor.elements()) {
    std::uint16_t bits = 0;
    std::memcpy(&bits, at, sizeof(bits));
    at += sizeof(bits);
    value = convert(bits);
  }
  return tensor;
}

}  // namespace av_fusion
