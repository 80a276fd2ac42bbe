// Copyright 2026 The av_fusion authors. SPDX-License-Identifier: Apache-2.0
#include "standard_input.h"

#include <poll.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>

#include "av_fusion/core/error.h"

namespace av_align {
namespace {

using av_fusion::Error;
using av_fusion::ErrorCode;
using av_fusion::MediaSource;

constexpr const char* kName = "stdin";

[[noreturn]] void fail(const char* what) {
  throw Error(ErrorCode::kIo, kName, std::string(what) + ": " + std::strerror(errno));
}

/// Waits until a pipe that whoever made it set to "non-blocking" has something to read.
void wait_for_bytes() {
  pollfd wanted{.fd = STDIN_FILENO, .events = POLLIN, .revents = 0};
  if (poll(&wanted, 1, -1) < 0 && errno != EINTR) fail("cannot be read");
}

/// Calls `read_some` until it gives an answer that is not "try again".
template <typename ReadSome>
std::size_t read_patiently(ReadSome read_some) {
  for (;;) {
    const ssize_t count = read_some();
    if (count >= 0) return static_cast<std::size_t>(count);
    if (errno == EAGAIN || errno == EWOULDBLOCK) {
      wait_for_bytes();
    } else if (errno != EINTR) {
      fail("cannot be read");
    }
  }
}

std::size_t read_pipe(std::span<std::byte> buffer) {
  return read_patiently([&] { return read(STDIN_FILENO, buffer.data(), buffer.size()); });
}

/// `pread` leaves the place where stdin stands, which other processes may share, alone.
MediaSource regular_file(off_t begin, off_t end) {
  const auto position = std::make_shared<off_t>(begin);
  const auto read = [position](std::span<std::byte> buffer) {
    const std::size_t count = read_patiently(
        [&] { return pread(STDIN_FILENO, buffer.data(), buffer.size(), *position); });
    *position += static_cast<off_t>(count);
    return count;
  };
  const auto seek = [position, begin](std::int64_t offset) { *position = begin + offset; };
  return MediaSource::from_callback(read, seek, std::max(off_t{0}, end - begin), kName);
}

}  // namespace

MediaSource standard_input() {
  struct stat status {};
  if (fstat(STDIN_FILENO, &status) != 0) fail("cannot be read");
  if (isatty(STDIN_FILENO) == 1) {
    throw Error(ErrorCode::kInvalidArgument, kName,
                "is a terminal; - needs a media file, as in: av_align - < FILE");
  }
  if (S_ISDIR(status.st_mode)) throw Error(ErrorCode::kIo, kName, "is a folder, not a media file");
  if (S_ISREG(status.st_mode)) {
    const off_t begin = lseek(STDIN_FILENO, 0, SEEK_CUR);
    if (begin >= 0) return regular_file(begin, status.st_size);
  }
  return MediaSource::from_callback(&read_pipe, {}, std::nullopt, kName);
}

bool is_standard_input(const std::filesystem::path& path) noexcept {
  struct stat input {};
  struct stat file {};
  return fstat(STDIN_FILENO, &input) == 0 && stat(path.c_str(), &file) == 0 &&
         input.st_dev == file.st_dev && input.st_ino == file.st_ino;
}

}  // namespace av_align
