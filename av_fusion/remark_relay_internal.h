// Copyright 2026 The av_fusion authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "av_fusion/core/log_sink.h"

namespace av_fusion {

/// Takes the remarks of a reader to the host's log: at once, or held back while the reader runs on
/// a thread that the host does not know. Whoever uses the reader uses the relay.
class RemarkRelay {
 public:
  using Remarks = std::vector<std::pair<LogLevel, std::string>>;

  explicit RemarkRelay(LogSink log) : log_(std::move(log)) {}
  RemarkRelay(const RemarkRelay&) = delete;
  RemarkRelay& operator=(const RemarkRelay&) = delete;

  /// For `MediaReader::Options::log`; must not outlive the relay.
  LogSink sink() {
    if (!log_) return {};
    return [this](LogLevel level, std::string_view text) {
      if (is_holding_) {
        held_.emplace_back(level, text);
      } else {
        log_(level, text);
      }
    };
  }

  void hold_back(bool holding) { is_holding_ = holding; }
  Remarks take_held() { return std::exchange(held_, {}); }

  /// On the host's thread.
  void pass_on(const Remarks& remarks) const {
    for (const auto& [level, text] : remarks) log_(level, text);
  }

 private:
  LogSink log_;
  bool is_holding_ = false;
  Remarks held_;
};

}  // namespace av_fusion
