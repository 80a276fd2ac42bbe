// Copyright 2026 The av_fusion authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include "av_fusion/core/log_sink.h"

namespace av_fusion {

/// Sends the log of FFmpeg to `sink` instead of stderr; an empty sink silences it.
///
/// FFmpeg has one log for the whole process, so this is for programs, not for libraries: it
/// replaces any other log callback and affects every user of FFmpeg in the process. av_fusion never
/// calls it; without it the decoders that av_fusion opens are silent, but FFmpeg's readers of
/// containers may write remarks on damaged files to stderr. Thread-safe; `sink` may be called on
/// any thread, one call at a time, and must not call this function.
void set_ffmpeg_log_sink(LogSink sink);

}  // namespace av_fusion
