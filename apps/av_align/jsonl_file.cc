// Copyright 2026 The av_fusion authors. SPDX-License-Identifier: Apache-2.0
#include "jsonl_file.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <fstream>

#include "av_fusion/core/error.h"
#include "jsonl_record.h"

namespace av_align {
namespace {

using av_fusion::Error;
using av_fusion::ErrorCode;

bool is_blank(std::string_view line) {
  return line.find_first_not_of(" \t\r") == std::string_view::npos;
}

/// Waits until a pipe that whoever made it set to "non-blocking" takes something.
void wait_for_room(int descriptor) {
  pollfd wanted{.fd = descriptor, .events = POLLOUT, .revents = 0};
  poll(&wanted, 1, -1);
}

}  // namespace

JsonlFile::JsonlFile(const std::string& name, const Take& take) : name_(name) {
  if (name == "-") {
    name_ = "standard output";
    is_ordinary_ = false;
    if (fcntl(STDOUT_FILENO, F_GETFD) < 0) fail("cannot write");
    descriptor_ = STDOUT_FILENO;
  } else if (open_existing() && is_ordinary_) {
    lock();
    read(take);
  }
}

JsonlFile::~JsonlFile() {
  if (descriptor_ > STDERR_FILENO) close(descriptor_);
}

void JsonlFile::fail(const char* what) const {
  throw Error(ErrorCode::kIo, name_, std::string(what) + ": " + std::strerror(errno));
}

/// False if there is no such file.
bool JsonlFile::open_existing() {
  struct stat status {};
  if (stat(name_.c_str(), &status) != 0) {
    if (errno == ENOENT) return false;
    fail("cannot write");
  }
  is_ordinary_ = S_ISREG(status.st_mode);
  const int way = is_ordinary_ ? O_RDWR : O_WRONLY;
  descriptor_ = open(name_.c_str(), way | O_APPEND | O_CLOEXEC | O_NOCTTY);
  if (descriptor_ < 0) fail("cannot write");
  return true;
}

/// Two writers would cut off each other's lines. Some file systems have no locks; there it is up to
/// the user.
void JsonlFile::lock() const {
  if (flock(descriptor_, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK) return;
  throw Error(ErrorCode::kIo, name_, "another process is writing it");
}

void JsonlFile::read(const Take& take) {
  std::ifstream stream(name_, std::ios::binary);
  if (!stream) fail("cannot read");
  std::string line;
  for (std::size_t number = 1; std::getline(stream, line); ++number) {
    const bool is_whole = !stream.eof();
    if (is_whole && (is_blank(line) || take(line))) {
      end_ += static_cast<off_t>(line.size()) + 1;
    } else if (stream.peek() == std::ifstream::traits_type::eof() && begins_as_record(line)) {
      break;
    } else {
      throw Error(ErrorCode::kCorruptData, name_,
                  "line " + std::to_string(number) +
                      " is none that av_align --jsonl writes; the file was left as it is");
    }
  }
  if (stream.bad()) fail("cannot read");
}

void JsonlFile::start() {
  if (descriptor_ < 0) {
    descriptor_ = open(name_.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOCTTY, 0666);
    if (descriptor_ < 0) fail("cannot write");
    lock();
  } else if (is_ordinary_ && ftruncate(descriptor_, end_) != 0) {
    fail("cannot write");
  }
}

void JsonlFile::write_all(std::string_view bytes) const {
  while (!bytes.empty()) {
    const ssize_t count = write(descriptor_, bytes.data(), bytes.size());
    if (count >= 0) {
      bytes.remove_prefix(static_cast<std::size_t>(count));
    } else if (errno == EAGAIN || errno == EWOULDBLOCK) {
      wait_for_room(descriptor_);
    } else if (errno != EINTR) {
      fail("cannot write");
    }
  }
}

void JsonlFile::append(std::string_view line) {
  try {
    write_all(line);
  } catch (...) {
    // If even this fails, the next run cuts the line off.
    if (is_ordinary_ && ftruncate(descriptor_, end_) != 0) throw;
    throw;
  }
  end_ += static_cast<off_t>(line.size());
}

}  // namespace av_align
