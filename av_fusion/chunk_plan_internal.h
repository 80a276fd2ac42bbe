// Copyright 2026 The av_fusion authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>

namespace av_fusion {

/// Rows `from` to `to` are wanted; an encoder must see `context_from` to `context_to` for them.
struct Chunk {
  std::int64_t from = 0;
  std::int64_t to = 0;
  std::int64_t context_from = 0;
  std::int64_t context_to = 0;
};

/// Cuts a growing sequence into chunks such that encoding them one by one gives the numbers of
/// encoding everything at once.
struct ChunkPlan {
  std::int64_t chunk = 0;   ///< wanted rows in a chunk, > 0
  std::int64_t past = 0;    ///< rows before a row that its result depends on
  std::int64_t future = 0;  ///< rows after a row that its result depends on

  /// The chunk after the first `done` rows, if the `available` rows suffice for it. At the end of
  /// the sequence (`at_end`) the last chunk may be shorter.
  std::optional<Chunk> next(std::int64_t done, std::int64_t available, bool at_end) const {
    const std::int64_t to = at_end ? std::min(done + chunk, available) : done + chunk;
    if (to <= done || (!at_end && to + future > available)) return std::nullopt;
    return Chunk{done, to, std::max<std::int64_t>(0, done - past),
                 std::min(available, to + future)};
  }

  /// The first row that a chunk after the first `done` rows can still need.
  std::int64_t first_needed(std::int64_t done) const {
    return std::max<std::int64_t>(0, done - past);
  }
};

}  // namespace av_fusion
