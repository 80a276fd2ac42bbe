// Copyright 2026 The av_fusion authors. SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <optional>
#include <utility>
#include <variant>

#include "av_fusion/core/stage_clock_internal.h"
#include "av_fusion/file_feed_internal.h"

namespace av_fusion {
namespace {

using Clock = std::chrono::steady_clock;

constexpr auto kProgressEvery = std::chrono::milliseconds(100);

}  // namespace

FileFeed::FileFeed(MediaReader& reader, AlignSession& session, const AlignerOptions& options)
    : reader_(reader), session_(session), options_(options), begun_(Clock::now()) {}

Alignment FileFeed::run() {
  while (!cancelled_) {
    std::optional<MediaReader::Event> event = next();
    if (!event) break;
    std::visit([&](auto&& piece) { session_.push(std::move(piece)); }, *std::move(event));
    report_progress();
  }
  AlignSession::Ending ending;
  ending.has_video = reader_.info().video.has_value();
  ending.has_audio = reader_.info().audio.has_value();
  ending.origin = reader_.origin();
  ending.samples = reader_.stats().samples;
  return session_.finish(ending);
}

std::optional<MediaReader::Event> FileFeed::next() {
  const StageScope stage(Stage::kDecode);
  return reader_.next();
}

void FileFeed::report_progress() {
  const Clock::time_point now = Clock::now();
  if (!options_.progress || now - last_progress_ < kProgressEvery) return;
  last_progress_ = now;
  AlignProgress progress;
  progress.position = analysed();
  progress.length = options_.duration;
  if (const auto whole = reader_.info().duration) {
    const MediaDuration rest = *whole - options_.start.value_or(MediaDuration{});
    progress.length = std::min(progress.length.value_or(rest), rest);
  }
  const double wall_s = std::chrono::duration<double>(now - begun_).count();
  if (wall_s > 0) progress.speed_x_realtime = progress.position.seconds() / wall_s;
  cancelled_ = !options_.progress(progress);
}

MediaDuration FileFeed::analysed() const {
  const MediaReader::Stats& stats = reader_.stats();
  std::optional<MediaTime> first = stats.first_picture;
  std::optional<MediaTime> last = stats.last_picture;
  if (stats.first_sample)
    first = std::min(first.value_or(*stats.first_sample), *stats.first_sample);
  if (stats.end_of_sound) last = std::max(last.value_or(*stats.end_of_sound), *stats.end_of_sound);
  return first && last ? *last - *first : MediaDuration{};
}

}  // namespace av_fusion
