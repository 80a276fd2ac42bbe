// Copyright 2026 The av_fusion authors. SPDX-License-Identifier: Apache-2.0
#include "clip_list.h"

#include <algorithm>
#include <fstream>
#include <sstream>

#include "av_fusion/core/error.h"

namespace {

std::vector<std::string> split_line(std::string line) {
  if (!line.empty() && line.back() == '\r') line.pop_back();
  std::vector<std::string> fields;
  std::istringstream stream(line);
  for (std::string field; std::getline(stream, field, '\t');) fields.push_back(field);
  return fields;
}

}  // namespace

std::vector<std::string> read_clip_list(const std::filesystem::path& path) {
  std::ifstream file(path);
  std::string line;
  if (!std::getline(file, line)) {
    throw av_fusion::Error(av_fusion::ErrorCode::kIo, path.string(), "cannot be read or is empty");
  }
  const std::vector<std::string> header = split_line(line);
  const auto column = std::find(header.begin(), header.end(), "clip") - header.begin();
  if (column == static_cast<std::ptrdiff_t>(header.size())) {
    throw av_fusion::Error(av_fusion::ErrorCode::kCorruptData, path.string(),
                           "the first line names no column \"clip\"");
  }
  std::vector<std::string> clips;
  while (std::getline(file, line)) {
    const std::vector<std::string> fields = split_line(line);
    if (static_cast<std::ptrdiff_t>(fields.size()) > column) {
      clips.push_back(fields[static_cast<std::size_t>(column)]);
    }
  }
  return clips;
}
