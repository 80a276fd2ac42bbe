// Copyright 2026 The av_fusion authors. SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <string>
#include <system_error>
#include <utility>

#include "av_fusion/core/error.h"
#include "av_fusion/media/byte_input_internal.h"

namespace av_fusion {
namespace {

namespace fs = std::filesystem;

class FileInput final : public ByteInput {
 public:
  FileInput(const fs::path& path, std::string name) : name_(std::move(name)) {
    std::error_code error;
    const fs::file_status status = fs::status(path, error);
    if (status.type() == fs::file_type::not_found) {
      throw Error(ErrorCode::kNotFound, name_, "no such file");
    }
    if (fs::is_directory(status)) {
      throw Error(ErrorCode::kIo, name_, "is a folder, not a media file");
    }
    if (fs::is_regular_file(status)) {
      const std::uintmax_t bytes = fs::file_size(path, error);
      if (!error) size_ = static_cast<std::int64_t>(bytes);
    }
    file_.rdbuf()->pubsetbuf(nullptr, 0);  // FFmpeg has a buffer of its own
    errno = 0;
    file_.open(path, std::ios::binary);
    if (!file_.is_open()) {
      const std::string cause =
          errno != 0 ? std::generic_category().message(errno) : "unknown cause";
      throw Error(ErrorCode::kIo, name_, "cannot be opened: " + cause);
    }
  }

  std::size_t read(std::span<std::byte> buffer) override {
    file_.clear();
    file_.read(reinterpret_cast<char*>(buffer.data()), static_cast<std::streamsize>(buffer.size()));
    if (file_.bad()) throw Error(ErrorCode::kIo, name_, "reading failed");
    return static_cast<std::size_t>(file_.gcount());
  }

  bool can_seek() const override { return size_.has_value(); }

  void seek(std::int64_t offset) override {
    file_.clear();
    file_.seekg(offset);
    if (file_.fail()) throw Error(ErrorCode::kIo, name_, "seeking failed");
  }

  std::optional<std::int64_t> size() const override { return size_; }

 private:
  std::string name_;
  std::ifstream file_;
  std::optional<std::int64_t> size_;  // a regular file has one
};

class MemoryInput final : public ByteInput {
 public:
  explicit MemoryInput(MediaSource::Memory memory) : memory_(std::move(memory)) {}

  std::size_t read(std::span<std::byte> buffer) override {
    const std::size_t count = std::min(buffer.size(), memory_.bytes.size() - at_);
    if (count > 0) std::memcpy(buffer.data(), memory_.bytes.data() + at_, count);
    at_ += count;
    return count;
  }

  bool can_seek() const override { return true; }

  void seek(std::int64_t offset) override {
    at_ = std::min(static_cast<std::size_t>(offset), memory_.bytes.size());
  }

  std::optional<std::int64_t> size() const override {
    return static_cast<std::int64_t>(memory_.bytes.size());
  }

 private:
  MediaSource::Memory memory_;
  std::size_t at_ = 0;
};

class CallbackInput final : public ByteInput {
 public:
  CallbackInput(MediaSource::Callbacks callbacks, std::string name)
      : callbacks_(std::move(callbacks)), name_(std::move(name)) {
    if (callbacks_.seek) callbacks_.seek(0);
  }

  std::size_t read(std::span<std::byte> buffer) override {
    const std::size_t count = callbacks_.read(buffer);
    if (count > buffer.size()) {
      throw Error(ErrorCode::kInvalidArgument, name_, "the read callback returned too many bytes");
    }
    return count;
  }

  bool can_seek() const override { return static_cast<bool>(callbacks_.seek); }
  void seek(std::int64_t offset) override { callbacks_.seek(offset); }
  std::optional<std::int64_t> size() const override { return callbacks_.size; }

 private:
  MediaSource::Callbacks callbacks_;
  std::string name_;
};

}  // namespace

std::unique_ptr<ByteInput> open_byte_input(const MediaSource& source) {
  const MediaSource::Input& input = source.input();
  if (const auto* path = std::get_if<fs::path>(&input)) {
    return std::make_unique<FileInput>(*path, source.name());
  }
  if (const auto* memory = std::get_if<MediaSource::Memory>(&input)) {
    return std::make_unique<MemoryInput>(*memory);
  }
  return std::make_unique<CallbackInput>(std::get<MediaSource::Callbacks>(input), source.name());
}

}  // namespace av_fusion
