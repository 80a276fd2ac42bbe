// Copyright 2026 The av_fusion authors. SPDX-License-Identifier: Apache-2.0

// Small files that claim huge pictures, tables or lists. Each ends in one clear error or in an
// honest answer, after a bounded number of reads and within bounded memory.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "av_fusion/media/frame_memory_internal.h"
#include "media_test_util.h"

namespace av_fusion {
namespace {

using Bytes = std::vector<std::uint8_t>;

// --- Pieces of files

void add(Bytes& out, const Bytes& more) { out.insert(out.end(), more.begin(), more.end()); }
void add(Bytes& out, std::string_view text) { out.insert(out.end(), text.begin(), text.end()); }

template <typename... Parts>
Bytes join(const Parts&... parts) {
  Bytes out;
  (add(out, parts), ...);
  return out;
}

Bytes repeat(const Bytes& piece, int times) {
  Bytes out;
  for (int i = 0; i < times; ++i) add(out, piece);
  return out;
}

Bytes zeros(std::size_t count) { return Bytes(count); }

// Big-endian.
Bytes number(std::uint64_t value, int bytes) {
  Bytes out;
  for (int shift = 8 * (bytes - 1); shift >= 0; shift -= 8) {
    out.push_back(static_cast<std::uint8_t>(value >> shift));
  }
  return out;
}

template <typename... Values>
Bytes words(Values... values) {
  return join(number(static_cast<std::uint32_t>(values), 4)...);
}

// --- MP4 (ISO/IEC 14496-12)

template <typename... Parts>
Bytes box(std::string_view name, const Parts&... parts) {
  const Bytes body = join(parts...);
  return join(number(body.size() + 8, 4), name, body);
}

template <typename... Parts>
Bytes full_box(std::string_view name, std::uint32_t flags, const Parts&... parts) {
  return box(name, words(flags), parts...);
}

const Bytes kFileType = box("ftyp", std::string_view("isom"), words(512), std::string_view("isom"));
const std::size_t kDataAt = kFileType.size() + 8;

Bytes matrix() { return words(0x10000, 0, 0, 0, 0x10000, 0, 0, 0, 0x40000000); }

Bytes movie_header() {
  return full_box("mvhd", 0, words(0, 0, 1000, 1000, 0x10000), number(0x100, 2), zeros(10),
                  matrix(), zeros(24), words(9));
}

Bytes track_header(int width, int height) {
  return full_box("tkhd", 3, words(0, 0, 1, 0, 1000), zeros(16), matrix(),
                  words(width << 16, height << 16));
}

Bytes picture_entry(std::string_view codec, int width, int height, const Bytes& extra = {}) {
  return box(codec, zeros(6), number(1, 2), zeros(16), number(static_cast<std::uint64_t>(width), 2),
             number(static_cast<std::uint64_t>(height), 2), words(0x480000, 0x480000, 0),
             number(1, 2), zeros(32), number(24, 2), number(0xffff, 2), extra);
}

Bytes sound_entry() {
  return box("sowt", zeros(6), number(1, 2), zeros(8), number(1, 2), number(16, 2), zeros(4),
             words(8000 << 16));
}

// The tables of a track.
struct Track {
  std::string_view kind = "vide";
  Bytes entry = picture_entry("jpeg", 64, 48);
  Bytes durations = words(1, 2, 40);  // stts
  Bytes chunks = words(1, 1, 2, 1);   // stsc
  Bytes sizes = words(100, 2);        // stsz
  Bytes places = words(1, kDataAt);   // stco
  int width = 64;
  int height = 48;
};

Bytes track(const Track& track) {
  const bool pictures = track.kind == "vide";
  const Bytes header = pictures ? full_box("vmhd", 1, zeros(8)) : full_box("smhd", 0, zeros(4));
  const Bytes tables = box("stbl", full_box("stsd", 0, words(1), track.entry),
                           full_box("stts", 0, track.durations), full_box("stsc", 0, track.chunks),
                           full_box("stsz", 0, track.sizes), full_box("stco", 0, track.places));
  const Bytes references = box("dinf", full_box("dref", 0, words(1), full_box("url ", 1)));
  const Bytes media =
      box("mdia", full_box("mdhd", 0, words(0, 0, pictures ? 1000 : 8000, 1000), words(0)),
          full_box("hdlr", 0, words(0), track.kind, zeros(14)),
          box("minf", header, references, tables));
  return box("trak", track_header(track.width, track.height), media);
}

Bytes mp4(const Bytes& tracks, const Bytes& data) {
  return join(kFileType, box("mdat", data), box("moov", movie_header(), tracks));
}

// A file whose one fragment holds `runs`.
Bytes fragment(const Bytes& runs) {
  return box("moof", full_box("mfhd", 0, words(1)),
             box("traf", full_box("tfhd", 0x020000, words(1)), runs));
}

Bytes fragmented(const Bytes& runs) {
  Track empty;
  empty.durations = empty.chunks = empty.places = words(0);
  empty.sizes = words(0, 0);
  const Bytes defaults = box("mvex", full_box("trex", 0, words(1, 1, 40, 100, 0)));
  return join(kFileType, box("moov", movie_header(), track(empty), defaults), fragment(runs),
              box("mdat", zeros(16000)));
}

// --- Matroska (RFC 9559)

// Identities have their mark of length in them.
Bytes element(std::uint32_t id, const Bytes& body) {
  const int id_bytes = id > 0xffffff ? 4 : id > 0xffff ? 3 : id > 0xff ? 2 : 1;
  return join(number(id, id_bytes), number(std::uint64_t{1} << 56 | body.size(), 8), body);
}

Bytes matroska(const Bytes& body) {
  const Bytes type(Bytes{'m', 'a', 't', 'r', 'o', 's', 'k', 'a'});
  return join(
      element(0x1A45DFA3, join(element(0x4282, type), element(0x4287, {4}), element(0x4285, {2}))),
      element(0x18538067, body));
}

Bytes matroska_track() {
  const Bytes codec{'V', '_', 'V', 'P', '8'};
  const Bytes size = element(0xE0, join(element(0xB0, {64}), element(0xBA, {48})));
  return element(0xAE, join(element(0xD7, {1}), element(0x73C5, {1}), element(0x83, {1}),
                            element(0x86, codec), size));
}

// One picture, which is none.
Bytes matroska_cluster() {
  return element(0x1F43B675, join(element(0xE7, {0}), element(0xA3, {0x81, 0, 0, 0x80, 0, 0})));
}

Bytes matroska_tags(int count) {
  Bytes tags;
  for (int i = 0; i < count; ++i) {
    const std::string name = "N" + std::to_string(i);
    const Bytes text =
        join(element(0x45A3, Bytes(name.begin(), name.end())), element(0x4487, Bytes{'v'}));
    add(tags, element(0x7373, element(0x67C8, text)));
  }
  return element(0x1254C367, tags);
}

// --- H.264 (ITU-T H.264, 7.3)

class BitWriter {
 public:
  BitWriter& bits(unsigned value, int count) {
    for (int i = count - 1; i >= 0; --i) bits_.push_back((value >> i & 1) != 0);
    return *this;
  }
  BitWriter& ue(unsigned value) {  // Exp-Golomb
    int length = 0;
    while ((value + 1) >> (length + 1) != 0) ++length;
    return bits(0, length).bits(value + 1, length + 1);
  }

  // With the stop bit, and with the bytes that keep start codes away.
  Bytes unit(std::uint8_t header) {
    bits_.push_back(true);
    bits_.resize((bits_.size() + 7) / 8 * 8);
    Bytes out{header};
    int zeros_seen = 0;
    for (std::size_t i = 0; i < bits_.size(); i += 8) {
      unsigned byte = 0;
      for (std::size_t j = 0; j < 8; ++j) byte = byte << 1 | (bits_[i + j] ? 1U : 0U);
      if (zeros_seen >= 2 && byte <= 3) {
        out.push_back(3);
        zeros_seen = 0;
      }
      zeros_seen = byte == 0 ? zeros_seen + 1 : 0;
      out.push_back(static_cast<std::uint8_t>(byte));
    }
    return out;
  }

 private:
  std::vector<bool> bits_;
};

struct H264 {
  unsigned width = 0;
  unsigned height = 0;
  unsigned references = 1;

  unsigned blocks() const { return width / 16 * (height / 16); }

  Bytes configuration() const {
    BitWriter sps_bits;
    sps_bits.bits(77, 8).bits(0, 8).bits(62, 8).ue(0).ue(0).ue(0).ue(4).ue(references).bits(0, 1);
    sps_bits.ue(width / 16 - 1).ue(height / 16 - 1).bits(0b110, 3);
    sps_bits.bits(1, 1).bits(0, 8);  // nothing in the usability information but the buffer
    sps_bits.bits(1, 1).bits(1, 1).ue(0).ue(0).ue(16).ue(16).ue(references).ue(references);
    const Bytes sps = sps_bits.unit(0x67);
    BitWriter pps_bits;
    pps_bits.ue(0).ue(0).bits(0, 2).ue(0).ue(0).ue(0).bits(0, 3).ue(0).ue(0).ue(0).bits(0, 3);
    const Bytes pps = pps_bits.unit(0x68);
    return box("avcC", Bytes{1, sps[1], sps[2], sps[3], 0xff, 0xe1}, number(sps.size(), 2), sps,
               Bytes{1}, number(pps.size(), 2), pps);
  }

  // Grey all over: every block is predicted from nothing and has no rest.
  Bytes key_picture() const {
    BitWriter bits;
    bits.ue(0).ue(7).ue(0).bits(0, 4).ue(0).bits(0, 8).bits(0, 2).ue(0);
    for (unsigned i = 0; i < blocks(); ++i) bits.ue(3).ue(0).ue(0).ue(0);
    return sized(bits.unit(0x65));
  }

  // Skips all its blocks.
  Bytes picture(unsigned index) const {
    BitWriter bits;
    bits.ue(0).ue(5).ue(0).bits(index % 16, 4).bits(2 * index % 256, 8).bits(0, 3).ue(0);
    bits.ue(blocks());
    return sized(bits.unit(0x61));
  }

  static Bytes sized(const Bytes& unit) { return join(number(unit.size(), 4), unit); }
};

Bytes h264_file(const H264& video, unsigned pictures) {
  Bytes data = video.key_picture();
  Bytes sizes = words(0, pictures, data.size());
  for (unsigned i = 1; i < pictures; ++i) {
    const Bytes picture = video.picture(i);
    add(sizes, words(picture.size()));
    add(data, picture);
  }
  Track table;
  table.width = static_cast<int>(video.width);
  table.height = static_cast<int>(video.height);
  table.entry = picture_entry("avc1", table.width, table.height, video.configuration());
  table.durations = words(1, pictures, 40);
  table.chunks = words(1, 1, pictures, 1);
  table.sizes = sizes;
  return mp4(track(table), data);
}

// --- Reading under observation

// A line of /proc/self/status in bytes.
std::optional<std::int64_t> status_line(const std::string& name) {
  std::ifstream file("/proc/self/status");
  for (std::string line; std::getline(file, line);) {
    if (line.rfind(name + ":", 0) == 0) return 1024 * std::stoll(line.substr(name.size() + 1));
  }
  return std::nullopt;
}

struct Observed {
  std::string error = "none";
  std::int64_t events = 0;
  std::int64_t reads = 0;
  std::int64_t memory_bytes = 0;  // most that was in use beyond what was before; 0: unknown
};

Observed read_all(const Bytes& file, bool is_pipe = false) {
  Observed result;
  auto at = std::make_shared<std::size_t>(0);
  const auto read = [&file, &result, at](std::span<std::byte> buffer) {
    ++result.reads;
    const std::size_t count = std::min(buffer.size(), file.size() - *at);
    std::memcpy(buffer.data(), file.data() + *at, count);
    *at += count;
    return count;
  };
  const auto seek = [&file, at](std::int64_t offset) {
    *at = std::min(static_cast<std::size_t>(offset), file.size());
  };
  const auto size = static_cast<std::int64_t>(file.size());
  const bool resets = (std::ofstream("/proc/self/clear_refs") << 5 << std::flush).good();
  const auto before = status_line("VmRSS");
  result.error = error_of([&] {
    MediaReader reader(is_pipe ? MediaSource::from_callback(read, {}, {}, "bomb")
                               : MediaSource::from_callback(read, seek, size, "bomb"));
    while (reader.next()) ++result.events;
  });
  const auto peak = status_line("VmHWM");
  if (resets && before && peak) result.memory_bytes = *peak - *before;
  return result;
}

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool kMemoryIsMeasurable = false;  // sanitizers keep what was freed
#else
constexpr bool kMemoryIsMeasurable = true;
#endif

void expect_bounded(const Observed& seen, std::int64_t megabytes) {
  EXPECT_LT(seen.reads, 400);
  EXPECT_LT(seen.events, 100);
  if (kMemoryIsMeasurable) {
    EXPECT_LT(seen.memory_bytes / 1'000'000, megabytes);
  }
}

void expect_part(const std::string& text, const std::string& part) {
  EXPECT_NE(text.find(part), std::string::npos) << text;
}

// --- MP4

TEST(Hostile, UniformSamplesBeyondTheFile) {
  Track bomb;
  bomb.durations = words(1, 0xffffffff, 1);
  bomb.chunks = words(1, 1, 0x7fffffff, 1);
  bomb.sizes = words(1, 20'000'000);
  const Observed seen = read_all(mp4(track(bomb), zeros(2000)));
  expect_part(seen.error, "corrupt_data | bomb: its header promises 20000000 samples");
  expect_bounded(seen, 50);
}

TEST(Hostile, UniformSamplesOfManyTracks) {
  Track bomb;
  bomb.chunks = words(1, 1, 0x7fffffff, 1);
  bomb.sizes = words(1, 500'000);
  const Observed seen = read_all(mp4(repeat(track(bomb), 50), zeros(2000)));
  expect_part(seen.error, "samples in a file of");
  expect_bounded(seen, 50);
}

TEST(Hostile, ChunksOfSound) {
  Track bomb;
  bomb.kind = "soun";
  bomb.entry = sound_entry();
  bomb.durations = words(1, 8000, 1);
  bomb.chunks = words(2, 1, 1, 1, 2, 0x7fffffff, 1);
  bomb.sizes = words(2, 8000);
  bomb.places = join(words(12), repeat(words(kDataAt), 12));
  const Observed seen = read_all(mp4(track(bomb), zeros(16000)));
  expect_part(seen.error, "its header promises 12 chunks of up to 2147483647 samples");
  expect_bounded(seen, 50);
}

TEST(Hostile, RunsOfFragments) {
  const Observed uniform = read_all(fragmented(repeat(full_box("trun", 0, words(10'000'000)), 9)));
  expect_part(uniform.error, "its header promises 10000000 samples");
  expect_bounded(uniform, 50);
  const Observed beyond = read_all(fragmented(full_box("trun", 0x200, words(3'000'000))));
  expect_part(beyond.error, "a run of 3000000 samples in a box of 16 bytes");
  expect_bounded(beyond, 50);
}

// From a pipe, when the header is long past.
TEST(Hostile, RunsOfALateFragment) {
  const Bytes early = join(fragmented(full_box("trun", 0, words(5))), box("mdat", zeros(400'000)));
  const Bytes late = fragment(full_box("trun", 0x200, words(3'000'000)));
  const Observed seen = read_all(join(early, late, box("mdat", zeros(16000))), true);
  expect_part(seen.error, "a run of 3000000 samples in a box of 16 bytes");
  expect_bounded(seen, 50);
}

TEST(Hostile, RunAtTheVeryEnd) {
  Bytes file = fragmented(full_box("trun", 0, words(10'000'000)));
  file.erase(file.end() - 16008, file.end());  // without the data
  expect_part(read_all(file).error, "its header promises 10000000 samples");
}

// A table within would not be seen.
TEST(Hostile, PackedHeaders) {
  const Bytes packed = box("cmov", box("dcom", std::string_view("zlib")),
                           box("cmvd", words(0xf0000000), zeros(100)));
  const Observed seen = read_all(join(kFileType, box("mdat", zeros(2000)), box("moov", packed)));
  expect_part(seen.error, "unsupported | bomb: its header is packed");
  expect_bounded(seen, 50);
}

TEST(Hostile, ManyTracks) {
  const Observed mp4_tracks = read_all(mp4(repeat(box("trak"), 100'000), zeros(100)));
  expect_part(mp4_tracks.error,
              "unsupported | bomb: cannot be opened: it has more than "
              "500 streams");
  expect_bounded(mp4_tracks, 100);
}

TEST(Hostile, HundredTracksAreNoBomb) {
  const Observed seen = read_all(mp4(repeat(track({}), 100), zeros(2000)));
  EXPECT_EQ(seen.error, "none");
}

// --- Matroska

TEST(Hostile, ManyMatroskaTracks) {
  const Bytes tracks = element(0x1654AE6B, repeat(Bytes{0xAE, 0x80}, 100'000));
  const Observed seen = read_all(matroska(tracks));
  EXPECT_EQ(seen.error, "unsupported | bomb: it has more than 500 streams");
  expect_bounded(seen, 50);
}

TEST(Hostile, ManyMatroskaTags) {
  const auto file_with = [](int tags) {
    const Bytes tracks = element(0x1654AE6B, matroska_track());
    return matroska(join(tracks, matroska_tags(tags), matroska_cluster()));
  };
  EXPECT_EQ(read_all(file_with(3000)).error, "corrupt_data | bomb: its header has too many tags");
  EXPECT_EQ(read_all(file_with(500)).error, "none");
}

// --- Pictures

TEST(Hostile, PicturesThatNeedTooMuchMemory) {
  const Observed seen = read_all(h264_file({8192, 4320, 16}, 24));
  expect_part(seen.error, "unsupported | bomb: stream 0: decoding needs more than");
  expect_bounded(seen, 500);
}

// A picture of one colour and 16 bits packs 400 MB into less than one.
TEST(Hostile, AMegabyteMustNotBecomeALargePictureOf16Bits) {
  EXPECT_LT(frame_memory_for(1'000'000), std::int64_t{8192} * 8192 * 6);
  EXPECT_GT(frame_memory_for(8'000'000),
            std::int64_t{8192} * 4320 * 3 * 9);  // a second of 8K video
}

TEST(Hostile, LargePicturesAreNoBomb) {
  const Observed seen = read_all(h264_file({8192, 4320, 1}, 3));
  EXPECT_EQ(seen.error, "none");
  EXPECT_EQ(seen.events, 3);
  expect_bounded(seen, 500);
}

TEST(Hostile, PicturesBehindASmallerClaim) {
  Track bomb;
  const H264 video{8192, 8192, 16};
  bomb.entry = picture_entry("avc1", 64, 48, video.configuration());
  const Observed seen = read_all(mp4(track(bomb), zeros(2000)));
  expect_bounded(seen, 100);
}

TEST(Hostile, RawPictures) {
  const std::string text = "YUV4MPEG2 W30000 H30000 F25:1 C444\nFRAME\n";
  const Observed seen = read_all(Bytes(text.begin(), text.end()));
  expect_part(seen.error, "corrupt_data | bomb: cannot be opened");
  expect_bounded(seen, 50);
}

}  // namespace
}  // namespace av_fusion
