// Copyright 2026 The av_fusion authors. SPDX-License-Identifier: Apache-2.0
#include "report_file.h"

#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>
#include <system_error>

#include "av_fusion/core/error.h"
#include "standard_input.h"

namespace av_align {
namespace {

namespace fs = std::filesystem;
using av_fusion::Error;
using av_fusion::ErrorCode;

struct CloseFile {
  void operator()(std::FILE* file) const noexcept { std::fclose(file); }
};

[[noreturn]] void fail(const fs::path& path, const char* what) {
  throw Error(ErrorCode::kIo, path.string(), std::string(what) + ": " + std::strerror(errno));
}

using Produce = std::function<void(const ReportFile::Write&)>;

void write_all(std::FILE* file, const Produce& produce, const fs::path& path) {
  produce([&](std::string_view piece) {
    if (std::fwrite(piece.data(), 1, piece.size(), file) != piece.size()) {
      fail(path, "cannot write");
    }
  });
  if (std::fflush(file) != 0) fail(path, "cannot write");
}

void write_file(const fs::path& path, const Produce& produce) {
  const std::unique_ptr<std::FILE, CloseFile> file(std::fopen(path.c_str(), "wb"));
  if (!file) fail(path, "cannot write");
  write_all(file.get(), produce, path);
}

/// Produces a text that exists already.
Produce ready(std::string_view text) {
  return [text](const ReportFile::Write& write) { write(text); };
}

constexpr const char* kStandardOutput = "standard output";

/// Devices and pipes cannot be replaced by a new file.
bool is_replaceable(const fs::path& path) {
  std::error_code ignored;
  const fs::file_status status = fs::status(path, ignored);
  return !fs::exists(status) || fs::is_regular_file(status);
}

/// The file that a link leads to, so that the link stays one.
fs::path target_of(const fs::path& path) {
  std::error_code ignored;
  if (!fs::is_symlink(path, ignored)) return path;
  const fs::path target = fs::weakly_canonical(path, ignored);
  return target.empty() ? path : target;
}

bool is_input(const fs::path& path, const std::string& input) {
  if (means_standard_input(input)) return is_standard_input(path);
  std::error_code ignored;
  return fs::equivalent(path, input, ignored);
}

}  // namespace

ReportFile::ReportFile(const std::string& name, const std::string& input)
    : path_(name), is_stdout_(name == "-") {
  if (is_stdout_) return;
  path_ = target_of(path_);
  if (is_input(path_, input)) {
    throw Error(ErrorCode::kInvalidArgument, name, "the report would overwrite the input");
  }
  std::error_code ignored;
  if (fs::is_directory(path_, ignored)) {
    throw Error(ErrorCode::kInvalidArgument, name, "the report cannot be written: a folder");
  }
  const fs::path folder = path_.has_parent_path() ? path_.parent_path() : fs::path(".");
  const bool is_writable =
      access(is_replaceable(path_) ? folder.c_str() : path_.c_str(), W_OK) == 0;
  if (!is_writable) fail(path_, "the report cannot be written");
}

void ReportFile::write(std::string_view text) const { write_pieces(ready(text)); }

void ReportFile::write_pieces(const Produce& produce) const {
  if (is_stdout_) return write_all(stdout, produce, kStandardOutput);
  if (!is_replaceable(path_)) return write_file(path_, produce);
  const fs::path partial = path_.string() + ".partial" + std::to_string(getpid());
  std::error_code error;
  try {
    write_file(partial, produce);
  } catch (...) {
    fs::remove(partial, error);
    throw;
  }
  fs::rename(partial, path_, error);
  if (!error) return;
  std::error_code ignored;
  fs::remove(partial, ignored);
  throw Error(ErrorCode::kIo, path_.string(), "cannot write: " + error.message());
}

void write_to_stdout(std::string_view text) { write_all(stdout, ready(text), kStandardOutput); }

}  // namespace av_align
