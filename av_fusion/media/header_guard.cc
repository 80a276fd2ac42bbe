// Copyright 2026 The av_fusion authors. SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <limits>
#include <utility>

#include "av_fusion/core/error.h"
#include "av_fusion/media/header_guard_internal.h"

namespace av_fusion {
namespace {

// Bytes of a header that must be seen in one piece: a box (size, name, version, two numbers), an
// element (identity, size).
constexpr std::size_t kHeaderBytes = 20;
constexpr std::size_t kListHeaderBytes = 12;
constexpr std::size_t kPackingBytes = 12;  // the box in front of a packed header
constexpr std::size_t kCarriedBytes = kHeaderBytes + kPackingBytes;

constexpr std::int64_t kFreeSamples = std::int64_t{1} << 21;
constexpr std::int64_t kSamplesForEachByte = 8;
constexpr std::int64_t kFreeChunkSamples = std::int64_t{1} << 32;
constexpr std::int64_t kChunkSamplesForEachByte = 256;
constexpr std::uint32_t kLongestBox = 1U << 26;
constexpr double kMaxTagWork = 1e9;  // comparisons of names; a second or two
constexpr std::size_t kMaxOpenLists = 64;

constexpr std::uint32_t kTrackEntry = 0xAE;
constexpr std::uint32_t kTag = 0x7373;
constexpr std::uint32_t kSimpleTag = 0x67C8;
constexpr std::array<std::uint8_t, 4> kTracks = {0x16, 0x54, 0xAE, 0x6B};
constexpr std::array<std::uint8_t, 4> kTags = {0x12, 0x54, 0xC3, 0x67};

std::uint32_t big_endian(const std::uint8_t* bytes) {
  return std::uint32_t{bytes[0]} << 24 | std::uint32_t{bytes[1]} << 16 |
         std::uint32_t{bytes[2]} << 8 | bytes[3];
}

bool is_named(const std::uint8_t* bytes, const char* name) {
  return std::memcmp(bytes, name, 4) == 0;
}

// Where the first header begins that is not whole within the `seen` bytes at the front.
std::size_t first_new(std::size_t seen, std::size_t header_bytes) {
  return seen < header_bytes ? 0 : seen - header_bytes + 1;
}

struct Number {
  std::uint64_t value = 0;
  std::size_t bytes = 0;  // 0: not a number, or cut off
};

// A number of EBML, whose length is the number of zeros at its front; an identity keeps the mark.
Number read_number(std::span<const std::uint8_t> bytes, bool keep_mark) {
  if (bytes.empty() || bytes[0] == 0) return {};
  const auto length = static_cast<std::size_t>(std::countl_zero(bytes[0])) + 1;
  if (length > bytes.size()) return {};
  std::uint64_t value = bytes[0];
  if (!keep_mark) value &= 0x7FU >> (length - 1);
  for (std::size_t i = 1; i < length; ++i) value = value << 8 | bytes[i];
  return {value, length};
}

bool is_unknown(const Number& size) {
  return size.value == (std::uint64_t{1} << 7 * size.bytes) - 1;
}

// The end of something at `from`; sizes may be nonsense.
std::int64_t end_of(std::int64_t from, const Number& size) {
  constexpr std::int64_t kFar = std::numeric_limits<std::int64_t>::max();
  if (is_unknown(size) || size.value > static_cast<std::uint64_t>(kFar - from)) return kFar;
  return from + static_cast<std::int64_t>(size.value);
}

}  // namespace

void HeaderGuard::refuse(const std::string& what) const {
  throw Error(ErrorCode::kCorruptData, name_, "its header " + what);
}

void HeaderGuard::set_kind(Kind kind) {
  kind_ = kind;
  for (const auto& [position, bytes] : std::exchange(early_, {})) look(position, bytes);
}

void HeaderGuard::look(std::int64_t position, std::span<const std::uint8_t> bytes) {
  if (kind_ == Kind::kOther) return;
  if (kind_ == Kind::kUnknown) {
    early_.emplace_back(position, std::vector<std::uint8_t>(bytes.begin(), bytes.end()));
    return;
  }
  const auto end = window_begin_ + static_cast<std::int64_t>(window_.size());
  std::size_t kept = 0;
  if (position == end) {
    kept = std::min(window_.size(), kCarriedBytes);
    window_.erase(window_.begin(), window_.end() - static_cast<std::ptrdiff_t>(kept));
    window_begin_ = end - static_cast<std::int64_t>(kept);
  } else {
    window_.clear();
    window_begin_ = position;
  }
  window_.insert(window_.end(), bytes.begin(), bytes.end());
  if (kind_ == Kind::kMp4) {
    find_boxes(kept);
    read_chunk_tables();
  } else {
    find_lists(kept);
    read_lists();
  }
}

// `seen` bytes at the front of the window have been looked at before.
void HeaderGuard::find_boxes(std::size_t seen) {
  for (std::size_t i = first_new(seen, kHeaderBytes); i + kHeaderBytes <= window_.size(); ++i) {
    const std::uint8_t* const box = window_.data() + i;
    if (box[4] == 'm') note_fragment(box, i);
    if (box[4] == 's' || box[4] == 't' || box[4] == 'c') on_box(box, i);
  }
}

// Fragments lie between the data of pictures and sound; these two names in a row do not turn up by
// chance.
void HeaderGuard::note_fragment(const std::uint8_t* box, std::size_t offset) {
  if (!is_named(box + 4, "moof") || !(is_named(box + 12, "mfhd") || is_named(box + 12, "traf"))) {
    return;
  }
  fragment_end_ = window_begin_ + static_cast<std::int64_t>(offset) + big_endian(box);
}

void HeaderGuard::on_box(const std::uint8_t* box, std::size_t offset) {
  const std::uint8_t* const name = box + 4;
  const std::uint32_t first = big_endian(box + 12);
  // A packed header (of QuickTime before 2001) may hold anything, and FFmpeg unpacks it by itself.
  if (in_header_ && is_named(name, "cmvd") && offset >= kPackingBytes &&
      is_named(box - kPackingBytes + 4, "dcom")) {
    throw Error(ErrorCode::kUnsupported, name_, "its header is packed (cmov), which is not read");
  }
  const bool plausible = box[8] <= 1 && big_endian(box) <= kLongestBox;  // the version
  if (!plausible) return;
  const bool in_fragment = window_begin_ + static_cast<std::int64_t>(offset) < fragment_end_;
  if (is_named(name, "trun") && (in_header_ || in_fragment))
    return on_run(big_endian(box), big_endian(box + 8), first);
  if (!in_header_) return;
  if (is_named(name, "stsz")) {
    if (first > 0) add_uniform_samples(big_endian(box + 16));
  } else if (is_named(name, "stsc")) {
    chunk_tables_.push_back({window_begin_ + static_cast<std::int64_t>(offset) + 16, first});
    read_chunk_tables();
    if (chunk_tables_.size() > kMaxOpenLists) refuse("has tables within tables");
  } else if (is_named(name, "stco") || is_named(name, "co64")) {
    chunks_ += first;
    check_chunks();
  }
}

// A run of samples of a fragment; `flags` say which of four numbers it has of each sample.
void HeaderGuard::on_run(std::uint32_t box_bytes, std::uint32_t flags, std::uint32_t samples) {
  const int numbers = std::popcount(flags & 0xF00U);
  if (numbers == 0) return add_uniform_samples(samples);
  if (std::uint64_t{samples} * 4 * static_cast<unsigned>(numbers) > box_bytes) {
    refuse("has a run of " + std::to_string(samples) + " samples in a box of " +
           std::to_string(box_bytes) + " bytes");
  }
}

void HeaderGuard::add_uniform_samples(std::uint32_t samples) {
  uniform_samples_ += samples;
  if (!file_bytes_ || (uniform_samples_ - kFreeSamples) / kSamplesForEachByte <= *file_bytes_) {
    return;
  }
  refuse("promises " + std::to_string(uniform_samples_) + " samples in a file of " +
         std::to_string(*file_bytes_) + " bytes");
}

void HeaderGuard::check_chunks() {
  if (!file_bytes_) return;
  const double samples = static_cast<double>(chunks_) * longest_chunk_;
  const double limit =
      static_cast<double>(kFreeChunkSamples) +
      static_cast<double>(kChunkSamplesForEachByte) * static_cast<double>(*file_bytes_);
  if (samples <= limit) return;
  refuse("promises " + std::to_string(chunks_) + " chunks of up to " +
         std::to_string(longest_chunk_) + " samples in a file of " + std::to_string(*file_bytes_) +
         " bytes");
}

void HeaderGuard::read_chunk_tables() {
  constexpr std::int64_t kEntryBytes = 12;  // first chunk, samples in each, description
  const std::int64_t end = window_begin_ + static_cast<std::int64_t>(window_.size());
  for (ChunkTable& table : chunk_tables_) {
    if (table.next < window_begin_) table.left = 0;  // FFmpeg reads elsewhere
    for (; table.left > 0 && table.next + kEntryBytes <= end; --table.left) {
      const std::uint8_t* const entry = window_.data() + (table.next - window_begin_);
      longest_chunk_ = std::max(longest_chunk_, big_endian(entry + 4));
      table.next += kEntryBytes;
    }
  }
  std::erase_if(chunk_tables_, [](const ChunkTable& table) { return table.left == 0; });
  check_chunks();
}

void HeaderGuard::look_at_end(std::int64_t position) {
  constexpr std::array<std::uint8_t, kHeaderBytes> kNothing{};
  look(position, kNothing);
}

void HeaderGuard::find_lists(std::size_t seen) {
  for (std::size_t i = first_new(seen, kListHeaderBytes); i + kListHeaderBytes <= window_.size();
       ++i) {
    const std::uint8_t* const bytes = window_.data() + i;
    const bool tracks = std::equal(kTracks.begin(), kTracks.end(), bytes);
    if (!tracks && !std::equal(kTags.begin(), kTags.end(), bytes)) continue;
    const Number size = read_number(std::span(bytes + 4, kListHeaderBytes - 4), false);
    if (size.bytes == 0) continue;
    const std::int64_t begin = window_begin_ + static_cast<std::int64_t>(i + 4 + size.bytes);
    const bool known = std::any_of(lists_.begin(), lists_.end(),
                                   [&](const ElementList& list) { return list.next == begin; });
    if (!known) lists_.push_back({!tracks, begin, end_of(begin, size), {}});
    read_lists();
    if (lists_.size() > kMaxOpenLists) refuse("has lists within lists");
  }
}

void HeaderGuard::read_lists() {
  for (ElementList& list : lists_) {
    while (read_element(list)) {
    }
  }
  std::erase_if(lists_, [](const ElementList& list) { return list.next >= list.end; });
}

// False if the next element has not come in yet, or the list is over.
bool HeaderGuard::read_element(ElementList& list) {
  const std::int64_t end = window_begin_ + static_cast<std::int64_t>(window_.size());
  if (list.next < window_begin_) list.end = list.next;  // FFmpeg reads elsewhere
  if (list.next >= list.end || list.next >= end) return false;
  const auto bytes =
      std::span(window_).subspan(static_cast<std::size_t>(list.next - window_begin_));
  const Number id = read_number(bytes, true);
  const Number size = read_number(bytes.subspan(id.bytes), false);
  if (id.bytes == 0 || size.bytes == 0) {
    if (bytes.size() >= kListHeaderBytes) list.end = list.next;  // damaged
    return false;
  }
  const auto header = static_cast<std::int64_t>(id.bytes + size.bytes);
  const std::int64_t element_end = end_of(list.next + header, size);
  const bool is_simple = id.value == kSimpleTag;
  if (list.tags && (is_simple || id.value == kTag)) {
    list.next += header;
    on_tag(list, is_simple, element_end);
    return true;
  }
  if (!list.tags && id.value == kTrackEntry && ++tracks_ > kMaxStreams) {
    throw Error(ErrorCode::kUnsupported, name_,
                "it has more than " + std::to_string(kMaxStreams) + " streams");
  }
  list.next = element_end;
  return true;
}

// FFmpeg adds the simple tags of a tag to a list and then compares all names of that list with each
// other; so it does for the tags within a simple tag.
void HeaderGuard::on_tag(ElementList& list, bool is_simple, std::int64_t end) {
  std::erase_if(list.tag_ends, [&](std::int64_t tag_end) { return tag_end <= list.next; });
  if (is_simple) ++tags_;
  if (!is_simple || !list.tag_ends.empty()) tag_work_ += tags_ * tags_;
  if (is_simple) list.tag_ends.push_back(end);
  if (tag_work_ > kMaxTagWork || list.tag_ends.size() > kMaxOpenLists) {
    refuse("has too many tags");
  }
}

}  // namespace av_fusion
