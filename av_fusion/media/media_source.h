// Copyright 2026 The av_fusion authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace av_fusion {

/// Where the bytes of a media file come from: a path, memory or callbacks. A cheap value; nothing
/// is opened before a reader is built on it.
///
/// FFmpeg never sees a path: av_fusion reads the bytes itself, so no name can reach a protocol
/// ("concat:", "http:"), and files that point to other files (playlists) cannot pull them in.
class MediaSource {
 public:
  /// Fills the front of `buffer` (never empty) and returns the number of bytes written; 0 means the
  /// end. Throws `Error` to report a failure; the reader passes it on.
  using Read = std::function<std::size_t(std::span<std::byte> buffer)>;

  /// Moves the next `Read` to `offset` bytes from the beginning. Throws `Error` to report a
  /// failure.
  using Seek = std::function<void(std::int64_t offset)>;

  /// Bytes in memory; `owner` keeps them alive if it is not null.
  struct Memory {
    std::span<const std::byte> bytes;
    std::shared_ptr<const void> owner;
  };

  /// Bytes from the host; called on the thread that uses the reader.
  struct Callbacks {
    Read read;
    Seek seek;                         ///< empty: the source cannot seek (a pipe)
    std::optional<std::int64_t> size;  ///< bytes, if known
  };

  using Input = std::variant<std::filesystem::path, Memory, Callbacks>;

  /// A file. Named pipes work as far as their format can be read without seeking.
  static MediaSource from_path(std::filesystem::path path);

  /// Bytes that the caller keeps alive and unchanged as long as a reader uses them.
  static MediaSource from_bytes(std::span<const std::byte> bytes, std::string name = "memory");

  /// Bytes shared with the caller. Throws `Error(kInvalidArgument)` on a null pointer.
  static MediaSource from_bytes(std::shared_ptr<const std::vector<std::byte>> bytes,
                                std::string name = "memory");

  /// Bytes from the host. Without `seek` only formats that can be read front to back work. Copies
  /// share the callbacks, so build one reader at a time on them; it starts with a seek to 0 if it
  /// can. Throws `Error(kInvalidArgument)` if `read` is empty or `size` is negative.
  static MediaSource from_callback(Read read, Seek seek = {},
                                   std::optional<std::int64_t> size = std::nullopt,
                                   std::string name = "stream");

  /// What error texts call the source: the path as given, or the name.
  const std::string& name() const noexcept { return name_; }

  const Input& input() const noexcept { return input_; }

 private:
  MediaSource(Input input, std::string name) : input_(std::move(input)), name_(std::move(name)) {}

  Input input_;
  std::string name_;
};

}  // namespace av_fusion
