// Copyright 2026 The av_fusion authors. SPDX-License-Identifier: Apache-2.0
#include "clip_features.h"

#include <algorithm>
#include <cstdio>
#include <map>
#include <span>
#include <utility>
#include <variant>
#include <vector>

#include "av_fusion/features/face_detector.h"
#include "av_fusion/features/log_mel.h"
#include "av_fusion/features/mouth_cropper.h"
#include "av_fusion/features/mouth_track_extractor.h"
#include "av_fusion/features/speech_activity.h"
#include "av_fusion/media/media_reader.h"
#include "safetensors_writer.h"

namespace {

using namespace av_fusion;

constexpr MediaDuration kSoundMargin{2'000'000};
constexpr std::int64_t kMinTicksOfFurtherTrack = 25;

// The chunks of one track put together.
struct Track {
  std::int64_t first_tick = 0;
  std::vector<std::uint8_t> crops;
  std::vector<float> geometry;
  std::vector<std::uint8_t> valid;
  std::vector<MediaTime> picture_times;
  FaceBox first_box;

  std::int64_t length() const { return static_cast<std::int64_t>(valid.size()); }

  void add(const MouthChunk& chunk) {
    if (valid.empty()) {
      first_tick = chunk.first_tick;
      first_box = chunk.boxes.front();
    }
    const auto append = [](auto& to, const auto& from) {
      to.insert(to.end(), from.begin(), from.end());
    };
    append(crops, chunk.crops.elements());
    append(geometry, chunk.geometry.elements());
    append(valid, chunk.valid);
    append(picture_times, chunk.picture_times);
  }
};

// Everything that comes out of one file.
struct Clip {
  Timeline grid;
  std::vector<Track> tracks;  // longest first
  std::vector<AudioClip> sound;
  MouthTrackExtractor::Counters counters;
  MediaReader::Stats stats;
  MediaInfo info;
};

Clip read_clip(const std::filesystem::path& input,
               std::shared_ptr<const FaceLandmarker> landmarker) {
  MediaReader::Options options;
  options.draft_pictures = true;  // as av_align
  MediaReader reader(MediaSource::from_path(input), options);
  MouthTrackExtractor extractor(make_dlib_face_detector(), std::move(landmarker));
  Clip clip;
  std::map<int, Track> tracks;
  const auto collect = [&] {
    for (const MouthChunk& chunk : extractor.take_ready()) tracks[chunk.track_id].add(chunk);
  };
  while (auto event = reader.next()) {
    if (auto* frame = std::get_if<VideoFrame>(&*event)) {
      extractor.push(std::move(*frame));
      collect();
    } else {
      clip.sound.push_back(std::move(std::get<AudioClip>(*event)));
    }
  }
  extractor.finish();
  collect();
  for (auto& [id, track] : tracks) clip.tracks.push_back(std::move(track));
  std::stable_sort(clip.tracks.begin(), clip.tracks.end(),
                   [](const Track& a, const Track& b) { return a.length() > b.length(); });
  if (extractor.grid()) clip.grid = *extractor.grid();
  clip.counters = extractor.counters();
  clip.stats = reader.stats();
  clip.info = reader.info();
  return clip;
}

struct Sound {
  FeatureSequence<float> mel;
  std::vector<std::uint8_t> speech;
};

Sound describe_sound(const std::vector<AudioClip>& clips, MediaTime begin, MediaTime end) {
  LogMelExtractor extractor(Timeline{begin, LogMelExtractor::kHop});
  for (const AudioClip& clip : clips) {
    if (clip.start > end) break;
    extractor.push(clip);
  }
  extractor.finish(end);
  FeatureSequence<float> all = extractor.take_ready();
  const std::int64_t frames = (end - begin).us / LogMelExtractor::kHop.us + 1;
  Sound sound;
  sound.mel.values = Tensor<float>(Shape{frames, LogMelExtractor::kBands});
  std::copy_n(all.values.data(), sound.mel.values.num_elements(), sound.mel.values.data());
  sound.mel.timeline = all.timeline;
  sound.mel.valid.assign(all.valid.begin(), all.valid.begin() + frames);
  SpeechActivity activity;
  activity.push(sound.mel);
  activity.finish();
  sound.speech = activity.take_ready();
  return sound;
}

std::string number(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.6g", value);
  return text;
}

void add_track(const Clip& clip, const Track& track, const std::string& suffix,
               SafetensorsWriter& writer) {
  const std::int64_t ticks = track.length();
  const MediaTime first = clip.grid.at(track.first_tick);
  const MediaTime last = clip.grid.at(track.first_tick + ticks - 1);
  std::vector<float> offsets;
  for (std::int64_t i = 0; i < ticks; ++i) {
    const MediaTime tick = clip.grid.at(track.first_tick + i);
    const MediaDuration offset = track.picture_times[static_cast<std::size_t>(i)] - tick;
    offsets.push_back(static_cast<float>(offset.ms()));
  }
  const Sound sound = describe_sound(clip.sound, first - kSoundMargin, last + kSoundMargin);
  const std::int64_t frames = sound.mel.length();
  writer.add("crops" + suffix, track.crops, {ticks, kMouthHeight, kMouthWidth});
  writer.add("geometry" + suffix, track.geometry, {ticks, kLipGeometrySize});
  writer.add("valid" + suffix, track.valid, {ticks});
  writer.add("picture_offset_ms" + suffix, offsets, {ticks});
  writer.add("mel" + suffix, sound.mel.values.elements(), {frames, LogMelExtractor::kBands});
  writer.add("mel_valid" + suffix, sound.mel.valid, {frames});
  writer.add("speech" + suffix, sound.speech, {frames});
  const FaceBox& box = track.first_box;
  writer.add_metadata("first_tick" + suffix, std::to_string(track.first_tick));
  writer.add_metadata("first_tick_time_us" + suffix, std::to_string(first.us));
  writer.add_metadata("first_box" + suffix, number(box.x) + " " + number(box.y) + " " +
                                                number(box.width) + " " + number(box.height));
}

double duration_of(const Clip& clip) {
  const auto& [first, last] = std::pair(clip.stats.first_picture, clip.stats.last_picture);
  return first && last ? (*last - *first + MouthTrackExtractor::kHop).seconds() : 0;
}

double fps_of(const Clip& clip) {
  if (!clip.info.video) return 0;
  return clip.info.streams[static_cast<std::size_t>(*clip.info.video)].average_fps;
}

}  // namespace

ClipReport extract_clip(const std::filesystem::path& input, const std::string& name,
                        std::shared_ptr<const FaceLandmarker> landmarker,
                        const std::filesystem::path& output) {
  const Clip clip = read_clip(input, std::move(landmarker));
  ClipReport report;
  report.duration_s = duration_of(clip);
  report.ticks = static_cast<long>(clip.counters.ticks);
  report.ticks_with_face = static_cast<long>(clip.counters.ticks_with_face);
  if (clip.stats.pictures == 0)
    report.reason = "no picture";
  else if (clip.sound.empty())
    report.reason = "no sound";
  else if (clip.tracks.empty())
    report.reason = "no face";
  if (!report.reason.empty()) return report;

  SafetensorsWriter writer;
  for (const Track& track : clip.tracks) {
    if (report.tracks > 0 && track.length() < kMinTicksOfFurtherTrack) break;
    add_track(clip, track, report.tracks == 0 ? "" : "_" + std::to_string(report.tracks), writer);
    ++report.tracks;
  }
  report.main_track_ticks = static_cast<long>(clip.tracks.front().length());
  writer.add_metadata("clip", name);
  writer.add_metadata("duration_s", number(report.duration_s));
  writer.add_metadata("fps", number(fps_of(clip)));
  writer.add_metadata("grid_start_us", std::to_string(clip.grid.start.us));
  writer.add_metadata("tracks", std::to_string(report.tracks));
  writer.write(output);
  report.written = true;
  return report;
}
