// Copyright 2026 The av_fusion authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <unordered_map>
#include <vector>

#include "batch_tally.h"
#include "jsonl_record.h"

namespace av_align {

/// What the output of a batch holds already.
class FinishedInputs {
 public:
  /// The next line of the output.
  void add(const JsonlRecord& record);

  /// Those of `inputs`, all different, that have no line yet; the others are counted in `tally` as
  /// skipped. Names that only bytes outside of UTF-8 tell apart look alike in the output: they have
  /// lines only if there are as many lines as names.
  std::vector<std::string> take_pending(std::vector<std::string> inputs, BatchTally& tally) const;

 private:
  struct Lines {
    std::size_t count = 0;
    int exit_code = 0;  // of the last one
  };

  std::unordered_map<std::string, Lines> lines_;  // by the name in the output
};

}  // namespace av_align
