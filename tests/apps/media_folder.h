// Copyright 2026 The av_fusion authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace av_fusion::test {

/// A folder of its own for one test, removed with everything in it at the end.
class MediaFolder {
 public:
  MediaFolder();
  ~MediaFolder();
  MediaFolder(const MediaFolder&) = delete;
  MediaFolder& operator=(const MediaFolder&) = delete;

  const std::filesystem::path& path() const noexcept { return path_; }

  /// Where a file of this name would be.
  std::string file(std::string_view name) const { return (path_ / name).string(); }

  /// Writes a file with this content and returns its path.
  std::string write(std::string_view name, std::string_view content) const;

  /// Lets the ffmpeg program make a file; `arguments` stand before the output. Fails the test and
  /// returns the path all the same if it cannot.
  std::string make(std::string_view name, const std::vector<std::string>& arguments) const;

 private:
  std::filesystem::path path_;
};

/// Whether the ffmpeg program can be run.
bool has_ffmpeg();

/// The content of a file; empty if there is none.
std::string read_file(const std::filesystem::path& path);

}  // namespace av_fusion::test
