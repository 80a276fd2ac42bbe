// Copyright 2026 The av_fusion authors. SPDX-License-Identifier: Apache-2.0
#include "av_fusion/media/media_source.h"

#include "av_fusion/core/error.h"

namespace av_fusion {
namespace {

std::string to_utf8(const std::filesystem::path& path) {
  const std::u8string text = path.u8string();
  return {reinterpret_cast<const char*>(text.data()), text.size()};
}

}  // namespace

MediaSource MediaSource::from_path(std::filesystem::path path) {
  std::string name = to_utf8(path);
  return {std::move(path), std::move(name)};
}

MediaSource MediaSource::from_bytes(std::span<const std::byte> bytes, std::string name) {
  return {Memory{bytes, nullptr}, std::move(name)};
}

MediaSource MediaSource::from_bytes(std::shared_ptr<const std::vector<std::byte>> bytes,
                                    std::string name) {
  if (bytes == nullptr)
    throw Error(ErrorCode::kInvalidArgument, name, "the bytes are a null pointer");
  const std::span<const std::byte> view(*bytes);
  return {Memory{view, std::move(bytes)}, std::move(name)};
}

MediaSource MediaSource::from_callback(Read read, Seek seek, std::optional<std::int64_t> size,
                                       std::string name) {
  if (!read) throw Error(ErrorCode::kInvalidArgument, name, "the read callback is empty");
  if (size && *size < 0) throw Error(ErrorCode::kInvalidArgument, name, "the size is negative");
  return {Callbacks{std::move(read), std::move(seek), size}, std::move(name)};
}

}  // namespace av_fusion
