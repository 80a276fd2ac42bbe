// Copyright 2026 The av_fusion authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "av_fusion/core/tensor.h"

namespace av_fusion {

/// Named tensors and text metadata in the safetensors format
/// (https://huggingface.co/docs/safetensors): 8 bytes with the length of a JSON header, the header,
/// then the elements of all tensors without a gap.
///
/// The file is not trusted: the constructors check all of its structure and throw
/// `Error(kCorruptData)` naming the file and the tensor if anything contradicts the format.
/// Owns its bytes. Safe to read from several threads.
class WeightsFile {
 public:
  /// Reads the whole file. Throws `Error(kNotFound)` if it does not exist, `Error(kIo)` if it
  /// cannot be read.
  static WeightsFile open(const std::filesystem::path& path);

  /// Copies `bytes`; `name` stands for the file in error messages.
  static WeightsFile from_bytes(std::span<const std::byte> bytes, std::string name);

  const std::string& name() const noexcept { return name_; }
  /// The file as it is.
  std::span<const std::byte> bytes() const noexcept { return bytes_; }
  /// The texts under "__metadata__".
  const std::map<std::string, std::string, std::less<>>& metadata() const noexcept {
    return metadata_;
  }

  /// Names of all tensors in alphabetical order.
  std::vector<std::string> names() const;
  bool contains(std::string_view name) const { return entries_.find(name) != entries_.end(); }

  /// The following throw `Error(kNotFound)` if there is no such tensor, and the readers throw
  /// `Error(kUnsupported)` if it has another element type.
  const Shape& shape(std::string_view name) const { return entry(name).shape; }
  /// A tensor of type F32, F16 or BF16; the conversion is exact.
  Tensor<float> tensor(std::string_view name) const;
  /// A tensor of type U8.
  Tensor<std::uint8_t> tensor_u8(std::string_view name) const;
  /// A tensor of type I64.
  Tensor<std::int64_t> tensor_i64(std::string_view name) const;

 private:
  struct Entry {
    std::string type;  // the format's name, "F16" for example
    Shape shape;
    std::size_t begin = 0;  // in `bytes_`
    std::size_t end = 0;
  };

  WeightsFile(std::vector<std::byte> bytes, std::string name);
  void parse_header(std::size_t header_length);
  void check_layout(std::size_t data_begin) const;
  const Entry& entry(std::string_view name) const;
  template <typename T>
  Tensor<T> read_plain(std::string_view name, std::string_view type) const;

  std::string name_;
  std::vector<std::byte> bytes_;
  std::map<std::string, std::string, std::less<>> metadata_;
  std::map<std::string, Entry, std::less<>> entries_;
};

}  // namespace av_fusion
