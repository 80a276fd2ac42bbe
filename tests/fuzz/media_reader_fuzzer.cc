// Copyright 2026 The av_fusion authors. SPDX-License-Identifier: Apache-2.0

// A media file is not trusted: whatever its bytes are, reading it gives pictures and sound that
// keep the promises of media_reader.h, or an av_fusion::Error. How the file is read (from memory or
// through callbacks, seekable or not, whole or in part) follows from its size.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <span>

#include "av_fusion/core/error.h"
#include "av_fusion/media/ffmpeg_log.h"
#include "av_fusion/media/media_reader.h"

namespace av_fusion {
namespace {

// A damaged file may hold a long silence or many small pictures; it is enough to see how they
// begin.
constexpr int kMostEvents = 400;
constexpr std::int64_t kMostPixels = 256 * 256;

void require(bool promise, const char* what) {
  if (promise) return;
  std::fprintf(stderr, "broken promise: %s\n", what);
  std::abort();
}

class Checker {
 public:
  void check(const VideoFrame& frame) {
    require(!picture_ || frame.time > *picture_, "picture times rise");
    picture_ = frame.time;
    require(frame.luma.shape().rank() == 2, "a picture has two axes");
    require(frame.luma.num_elements() > 0, "a picture has pixels");
    for (const std::uint8_t pixel : frame.luma.elements()) sum_ += pixel;
  }

  void check(const AudioClip& clip) {
    require(!sound_ || clip.start > *sound_, "clips rise in time");
    sound_ = clip.start;
    require(!clip.samples.empty(), "a clip has samples");
    require(clip.samples.size() <= static_cast<std::size_t>(AudioClip::kSampleRateHz),
            "a clip lasts at most a second");
    for (const float sample : clip.samples) {
      require(std::isfinite(sample) && std::abs(sample) <= AudioClip::kLimit,
              "samples are finite and small");
    }
  }

 private:
  std::optional<MediaTime> picture_;
  std::optional<MediaTime> sound_;
  std::uint64_t sum_ = 0;
};

MediaSource source_of(std::span<const std::byte> bytes, bool callbacks, bool seekable) {
  if (!callbacks) return MediaSource::from_bytes(bytes, "input");
  auto at = std::make_shared<std::size_t>(0);
  const auto read = [bytes, at](std::span<std::byte> buffer) {
    const std::size_t count = std::min(buffer.size(), bytes.size() - *at);
    std::copy_n(bytes.begin() + static_cast<std::ptrdiff_t>(*at), count, buffer.begin());
    *at += count;
    return count;
  };
  MediaSource::Seek seek;
  if (seekable) {
    seek = [bytes, at](std::int64_t offset) {
      require(offset >= 0, "seeks go to places");
      *at = std::min(static_cast<std::size_t>(offset), bytes.size());
    };
  }
  return MediaSource::from_callback(read, seek, std::nullopt, "input");
}

void run(std::span<const std::byte> bytes) {
  const std::size_t way = bytes.size() % 5;
  MediaReader::Options options;
  options.max_pixels = kMostPixels;
  if (way == 4) {
    options.start = MediaDuration::from_ms(90);
    options.duration = MediaDuration::from_ms(50);
  }
  try {
    MediaReader reader(source_of(bytes, way == 1 || way == 2, way == 1), options);
    Checker checker;
    for (int i = 0; i < kMostEvents; ++i) {
      const auto event = reader.next();
      if (!event) break;
      std::visit([&](const auto& what) { checker.check(what); }, *event);
    }
  } catch (const Error& error) {
    require(error.what()[0] != '\0', "an error says something");
  }
}

}  // namespace
}  // namespace av_fusion

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  [[maybe_unused]] static const bool silent = (av_fusion::set_ffmpeg_log_sink({}), true);
  av_fusion::run(std::as_bytes(std::span(data, size)));
  return 0;
}
