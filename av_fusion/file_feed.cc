// Copyright 2026 The av_fusion authors. SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <exception>
#include <optional>
#include <utility>
#include <variant>

#include "av_fusion/core/stage_scope.h"
#include "av_fusion/file_feed_internal.h"

namespace av_fusion {
namespace {

using Clock = std::chrono::steady_clock;

constexpr auto kProgressEvery = std::chrono::milliseconds(100);

}  // namespace

FileFeed::FileFeed(MediaReader& reader, RemarkRelay& relay, AlignSession& session,
                   const AlignerOptions& options)
    : reader_(reader), relay_(relay), session_(session), options_(options), begun_(Clock::now()) {}

void FileFeed::run() {
  if (options_.threads > 1) ahead_.emplace(reader_, relay_);
  feed();
  ahead_.reset();
  analysed_ = length_of(reader_.stats());
  AlignSession::Ending ending;
  ending.has_video = reader_.info().video.has_value();
  ending.has_audio = reader_.info().audio.has_value();
  ending.origin = reader_.origin();
  ending.samples = reader_.stats().samples;
  session_.close(ending);
}

void FileFeed::feed() {
  while (!cancelled_) {
    std::optional<MediaReader::Event> event = next();
    if (!event) return;
    std::visit([&](auto&& piece) { session_.push(std::move(piece)); }, *std::move(event));
    report_progress();
  }
}

std::optional<MediaReader::Event> FileFeed::next() {
  const StageScope stage(Stage::kDecode);
  if (ahead_) return next_ahead();
  std::optional<MediaReader::Event> event = reader_.next();
  analysed_ = length_of(reader_.stats());
  return event;
}

std::optional<MediaReader::Event> FileFeed::next_ahead() {
  ReadAhead::Item item = ahead_->next();
  analysed_ = item.position;
  relay_.pass_on(item.remarks);
  if (item.failure) std::rethrow_exception(item.failure);
  return std::move(item.event);
}

void FileFeed::report_progress() {
  const Clock::time_point now = Clock::now();
  if (!options_.progress || now - last_progress_ < kProgressEvery) return;
  last_progress_ = now;
  AlignProgress progress;
  progress.position = analysed_;
  progress.length = options_.duration;
  if (const auto whole = reader_.info().duration) {
    const MediaDuration rest = *whole - options_.start.value_or(MediaDuration{});
    progress.length = std::min(progress.length.value_or(rest), rest);
  }
  const double wall_s = std::chrono::duration<double>(now - begun_).count();
  if (wall_s > 0) progress.speed_x_realtime = progress.position.seconds() / wall_s;
  cancelled_ = !options_.progress(progress);
}

}  // namespace av_fusion
