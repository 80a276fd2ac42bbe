// Copyright 2026 The av_fusion authors. SPDX-License-Identifier: Apache-2.0
#include "finished_inputs.h"

namespace av_align {

void FinishedInputs::add(const JsonlRecord& record) {
  Lines& lines = lines_[record.path];
  ++lines.count;
  lines.exit_code = record.exit_code;
}

std::vector<std::string> FinishedInputs::take_pending(std::vector<std::string> inputs,
                                                      BatchTally& tally) const {
  if (lines_.empty()) return inputs;
  std::unordered_map<std::string, std::size_t> names;  // with a line: how many look like this
  for (const std::string& input : inputs) {
    if (std::string name = name_in_json(input); lines_.contains(name)) ++names[std::move(name)];
  }
  std::erase_if(inputs, [&](const std::string& input) {
    const std::string name = name_in_json(input);
    const auto found = lines_.find(name);
    if (found == lines_.end() || found->second.count < names.at(name)) return false;
    tally.skip(found->second.exit_code);
    return true;
  });
  return inputs;
}

}  // namespace av_align
