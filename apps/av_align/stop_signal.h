// Copyright 2026 The av_fusion authors. SPDX-License-Identifier: Apache-2.0
#pragma once

namespace av_align {

/// From now on the first SIGINT or SIGTERM is only remembered, so that the program can end in good
/// order; the next one ends it at once. A signal that is ignored (nohup) stays ignored.
void catch_stop_signals();

/// The signal that was caught, or 0. May be called on any thread.
int stop_signal() noexcept;

/// From now on a write to a pipe that nobody reads, or past a limit of file sizes, fails with an
/// error instead of ending the program.
void ignore_write_signals();

}  // namespace av_align
