// Copyright 2026 The av_fusion authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace av_fusion {

/// Reads along with FFmpeg and stops it in front of headers of MP4, MOV and Matroska that would
/// cost absurdly much: FFmpeg makes an entry in memory for each sample of a table even if the table
/// is but one number, keeps each track of a list until it has the whole list, and sorts tags into
/// a list that it rebuilds for each of them.
///
/// Headers are found by their names wherever they are, as FFmpeg, too, takes them nearly anywhere.
/// Those of a form that no program writes are not judged: cover pictures have such names by chance.
/// One thread at a time.
class HeaderGuard {
 public:
  /// The most streams of a file.
  static constexpr int kMaxStreams = 500;

  /// `name` goes into error texts. Some claims can only be judged if the size of the file is known.
  HeaderGuard(std::string name, std::optional<std::int64_t> file_bytes)
      : name_(std::move(name)), file_bytes_(file_bytes) {}

  enum class Kind { kUnknown, kMp4, kMatroska, kOther };

  /// Says what file it is, once that is known; what came before is looked at then. Throws as `look`
  /// does.
  void set_kind(Kind kind);

  /// Looks at bytes that were read at `position`. Throws `Error(kCorruptData)`, or
  /// `Error(kUnsupported)` for too many streams.
  void look(std::int64_t position, std::span<const std::uint8_t> bytes);

  /// The source ends at `position`. Throws as `look` does.
  void look_at_end(std::int64_t position);

  /// From here on the data of pictures and sound is read, in which names turn up by chance.
  void header_is_read() { in_header_ = false; }

 private:
  // A table of chunk lengths (stsc) on its way.
  struct ChunkTable {
    std::int64_t next = 0;  // position of the next entry
    std::int64_t left = 0;  // entries
  };

  // A list of Matroska's elements on its way.
  struct ElementList {
    bool tags = false;  // else tracks
    std::int64_t next = 0;
    std::int64_t end = 0;
    std::vector<std::int64_t> tag_ends;  // of the tags around `next`
  };

  void find_boxes(std::size_t seen);
  void note_fragment(const std::uint8_t* box, std::size_t offset);
  void on_box(const std::uint8_t* box, std::size_t offset);
  void on_run(std::uint32_t box_bytes, std::uint32_t flags, std::uint32_t samples);
  void add_uniform_samples(std::uint32_t samples);
  void check_chunks();
  void read_chunk_tables();
  void find_lists(std::size_t seen);
  void read_lists();
  bool read_element(ElementList& list);
  void on_tag(ElementList& list, bool is_simple, std::int64_t end);
  [[noreturn]] void refuse(const std::string& what) const;

  std::string name_;
  std::optional<std::int64_t> file_bytes_;
  Kind kind_ = Kind::kUnknown;
  bool in_header_ = true;
  std::vector<std::pair<std::int64_t, std::vector<std::uint8_t>>> early_;  // while it was unknown

  std::vector<std::uint8_t> window_;  // what is looked at, with a bit of what came before
  std::int64_t window_begin_ = 0;     // position of its first byte

  std::int64_t fragment_end_ = 0;  // of the last fragment's header
  std::int64_t uniform_samples_ = 0;
  std::int64_t chunks_ = 0;
  std::uint32_t longest_chunk_ = 0;  // samples
  std::vector<ChunkTable> chunk_tables_;
  std::vector<ElementList> lists_;
  int tracks_ = 0;
  double tags_ = 0;
  double tag_work_ = 0;
};

}  // namespace av_fusion
