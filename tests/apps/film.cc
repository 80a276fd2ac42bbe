// Copyright 2026 The av_fusion authors. SPDX-License-Identifier: Apache-2.0
#include "tests/apps/film.h"

#include <cstdint>
#include <utility>
#include <variant>

#include "av_fusion/media/media_reader.h"

namespace av_fusion::test {

MediaTime Film::time_of(std::size_t sample) const {
  return sound_start + MediaDuration{(static_cast<std::int64_t>(sample) * 125 + 1) / 2};
}

Film read_film(const std::string& path, MediaDuration length) {
  Film result;
  MediaReader::Options options;
  options.duration = length;
  MediaReader reader(MediaSource::from_path(path), options);
  while (auto event = reader.next()) {
    if (auto* frame = std::get_if<VideoFrame>(&*event)) {
      result.pictures.push_back(std::move(*frame));
    } else {
      const AudioClip& clip = std::get<AudioClip>(*event);
      if (result.sound.empty()) result.sound_start = clip.start;
      result.sound.insert(result.sound.end(), clip.samples.begin(), clip.samples.end());
    }
  }
  return result;
}

}  // namespace av_fusion::test
