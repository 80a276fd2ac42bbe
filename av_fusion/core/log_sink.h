// Copyright 2026 The av_fusion authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string_view>

namespace av_fusion {

enum class LogLevel { kDebug, kInfo, kWarning };

/// Where the library's remarks go. The library never prints; without a sink they are dropped.
/// Called on the thread that makes the remark; the text is valid during the call only.
using LogSink = std::function<void(LogLevel level, std::string_view text)>;

}  // namespace av_fusion
