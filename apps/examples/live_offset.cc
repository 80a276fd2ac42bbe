// Copyright 2026 The av_fusion authors. SPDX-License-Identifier: Apache-2.0
#include <av_fusion/media/media_reader.h>
#include <av_fusion/stream_aligner.h>

#include <cstdio>
#include <variant>

namespace av = av_fusion;

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  const av::Aligner aligner;  // may be shared by many streams
  av::StreamAligner stream(aligner, {.keep = {}, .low_latency = true});
  // A file stands for the feed: your own pictures and samples come here.
  av::MediaReader feed(av::MediaSource::from_path(argv[1]));
  double next_s = 2;
  while (const auto event = feed.next()) {
    if (const auto* sound = std::get_if<av::AudioClip>(&*event)) {
      stream.push_audio(sound->start, sound->samples);  // mono, of Options::sample_rate_hz
      continue;
    }
    const auto& picture = std::get<av::VideoFrame>(*event);
    stream.push_video(picture.time, picture.luma.view());  // a view of [height, width] bytes
    const double now_s = picture.time.seconds();
    if (now_s < next_s) continue;
    next_s += 2;
    if (const auto offset = stream.poll().offset) {
      std::printf("%.0f s: %+.0f ms, confidence %.2f\n", now_s, offset->ms, offset->confidence);
    }
  }
  std::printf("%s\n", stream.finish().reason.c_str());
}
