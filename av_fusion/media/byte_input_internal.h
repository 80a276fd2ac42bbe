// Copyright 2026 The av_fusion authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>

#include "av_fusion/media/media_source.h"

namespace av_fusion {

/// An open source of bytes.
class ByteInput {
 public:
  virtual ~ByteInput() = default;

  /// Fills the front of `buffer`; 0 means the end. Throws `Error(kIo)` or what the host throws.
  virtual std::size_t read(std::span<std::byte> buffer) = 0;

  virtual bool can_seek() const = 0;

  /// Moves to `offset` bytes from the beginning; only if `can_seek`.
  virtual void seek(std::int64_t offset) = 0;

  virtual std::optional<std::int64_t> size() const = 0;
};

/// Opens `source` at its beginning. Throws `Error`: kNotFound, kIo, or what the host throws.
std::unique_ptr<ByteInput> open_byte_input(const MediaSource& source);

}  // namespace av_fusion
