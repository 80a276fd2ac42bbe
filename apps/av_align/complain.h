// Copyright 2026 The av_fusion authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdio>
#include <string>

#include "printable.h"

namespace av_align {

/// One line on stderr: the name of the program and `message`. May be called on any thread.
inline void complain(const std::string& message) {
  std::fprintf(stderr, "av_align: %s\n", printable(message).c_str());
}

}  // namespace av_align
