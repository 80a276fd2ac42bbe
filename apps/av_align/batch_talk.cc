// Copyright 2026 The av_fusion authors. SPDX-License-Identifier: Apache-2.0
#include "batch_talk.h"

#include <filesystem>

#include "complain.h"
#include "printable.h"

namespace av_align {
namespace {

constexpr std::size_t kLongestName = 50;  // bytes; the line must not need a second one

bool continues_a_character(char c) { return (static_cast<unsigned char>(c) & 0xc0) == 0x80; }

/// The name without its folder, cut between two characters of UTF-8.
std::string short_name(const std::string& input) {
  std::string name = std::filesystem::path(input).filename().string();
  if (name.size() <= kLongestName) return name;
  std::size_t length = kLongestName - 3;
  while (length > 0 && continues_a_character(name[length])) --length;
  return name.substr(0, length) + "...";
}

}  // namespace

void BatchTalk::show(std::size_t number, const std::string& input) {
  if (quiet_) return;
  const std::lock_guard lock(mutex_);
  progress_.show(std::to_string(number) + " of " + std::to_string(num_files_) + ", " +
                 printable(short_name(input)));
}

void BatchTalk::make_room() {
  const std::lock_guard lock(mutex_);
  progress_.clear();
}

void BatchTalk::note(const std::string& text) {
  if (!quiet_) say("note: " + text);
}

void BatchTalk::complain(const std::string& text) { say(text); }

void BatchTalk::finish(const std::string& summary) {
  if (!quiet_) say(summary);
}

void BatchTalk::say(const std::string& text) {
  const std::lock_guard lock(mutex_);
  progress_.clear();
  av_align::complain(text);
}

}  // namespace av_align
