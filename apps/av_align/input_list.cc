// Copyright 2026 The av_fusion authors. SPDX-License-Identifier: Apache-2.0
#include "input_list.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>
#include <string_view>
#include <unordered_set>

#include "av_fusion/core/error.h"
#include "standard_input.h"

namespace av_align {
namespace {

using av_fusion::Error;
using av_fusion::ErrorCode;

struct CloseFile {
  void operator()(std::FILE* file) const noexcept { std::fclose(file); }
};

[[noreturn]] void fail_to_read(const std::string& name) {
  throw Error(ErrorCode::kIo, name,
              std::string("the list cannot be read: ") + std::strerror(errno));
}

std::string content(std::FILE* file, const std::string& name) {
  std::string text;
  char buffer[16384];
  for (std::size_t n; (n = std::fread(buffer, 1, sizeof buffer, file)) > 0;) text.append(buffer, n);
  if (std::ferror(file) != 0) fail_to_read(name);
  return text;
}

std::string content(const std::string& name) {
  if (means_standard_input(name)) return content(stdin, "stdin");
  const std::unique_ptr<std::FILE, CloseFile> file(std::fopen(name.c_str(), "rb"));
  if (!file) fail_to_read(name);
  return content(file.get(), name);
}

[[noreturn]] void reject(const std::string& list, std::size_t number, const char* what) {
  throw Error(ErrorCode::kInvalidArgument, list, "line " + std::to_string(number) + what);
}

void check(std::string_view name, const std::string& list, std::size_t number) {
  if (name.find('\0') != name.npos) reject(list, number, " holds a zero byte: no list of names");
  if (name == "-") reject(list, number, ": stdin cannot be in a batch; a file called - is ./-");
}

constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";

}  // namespace

std::vector<std::string> read_input_list(const std::string& name) {
  const std::string text = content(name);
  std::string_view rest = text;
  if (rest.starts_with(kByteOrderMark)) rest.remove_prefix(kByteOrderMark.size());
  std::vector<std::string> names;
  for (std::size_t number = 1; !rest.empty(); ++number) {
    std::string_view line = rest.substr(0, rest.find('\n'));
    rest.remove_prefix(std::min(line.size() + 1, rest.size()));
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (line.empty() || line.starts_with('#')) continue;
    check(line, name, number);
    names.emplace_back(line);
  }
  return names;
}

std::vector<std::string> without_repeats(std::vector<std::string> names) {
  std::unordered_set<std::string> seen;
  std::erase_if(names, [&](const std::string& name) { return !seen.insert(name).second; });
  return names;
}

}  // namespace av_align
