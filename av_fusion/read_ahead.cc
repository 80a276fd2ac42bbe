// Copyright 2026 The av_fusion authors. SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <utility>

#include "av_fusion/read_ahead_internal.h"

namespace av_fusion {

MediaDuration length_of(const MediaReader::Stats& stats) {
  std::optional<MediaTime> first = stats.first_picture;
  std::optional<MediaTime> last = stats.last_picture;
  if (stats.first_sample)
    first = std::min(first.value_or(*stats.first_sample), *stats.first_sample);
  if (stats.end_of_sound) last = std::max(last.value_or(*stats.end_of_sound), *stats.end_of_sound);
  return first && last ? *last - *first : MediaDuration{};
}

ReadAhead::ReadAhead(MediaReader& reader, RemarkRelay& relay) : reader_(reader), relay_(relay) {
  relay_.hold_back(true);
  thread_ = std::thread([this] { run(); });
}

ReadAhead::~ReadAhead() {
  queue_.close();
  thread_.join();
  relay_.hold_back(false);
}

void ReadAhead::run() {
  bool goes_on = true;
  while (goes_on) {
    Item item = read();
    goes_on = item.event.has_value();
    goes_on = queue_.push(std::move(item)) && goes_on;
  }
}

ReadAhead::Item ReadAhead::read() {
  Item item;
  try {
    item.event = reader_.next();
  } catch (...) {
    item.failure = std::current_exception();
  }
  item.position = length_of(reader_.stats());
  item.remarks = relay_.take_held();
  return item;
}

}  // namespace av_fusion
