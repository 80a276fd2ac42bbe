// Copyright 2026 The av_fusion authors. SPDX-License-Identifier: Apache-2.0
#include <av_fusion/aligner.h>

#include <cmath>
#include <cstdio>

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  const av_fusion::Aligner aligner;  // may be shared by threads
  const auto run = aligner.align(av_fusion::MediaSource::from_path(argv[1]));
  if (const auto& offset = run.alignment.offset) {
    std::printf("%+.0f ms, confidence %.2f\n", offset->ms, offset->confidence);
    return std::abs(offset->ms - 120) <= 40 ? 0 : 1;
  }
  std::printf("%s\n", run.alignment.reason.c_str());
  return 1;
}
