// Copyright 2026 The av_fusion authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "av_fusion/core/error.h"
#include "av_fusion/media/media_reader.h"

/// Skips the test if there is no ffmpeg command to make test media with.
#define REQUIRE_FFMPEG_COMMAND() \
  if (!have_ffmpeg_command()) GTEST_SKIP() << "needs the ffmpeg command to make test media"

namespace av_fusion {

/// A folder that vanishes with the object.
class TempDir {
 public:
  TempDir();
  ~TempDir();
  TempDir(const TempDir&) = delete;
  TempDir& operator=(const TempDir&) = delete;

  std::filesystem::path operator/(const std::string& name) const { return path_ / name; }
  const std::filesystem::path& path() const { return path_; }

  /// Runs "ffmpeg `arguments`" in the folder (through the shell); true if it succeeded.
  bool ffmpeg(const std::string& arguments) const;

 private:
  std::filesystem::path path_;
};

bool have_ffmpeg_command();

void write_file(const std::filesystem::path& path, const std::vector<std::uint8_t>& bytes);
std::vector<std::uint8_t> read_file(const std::filesystem::path& path);
void write_floats(const std::filesystem::path& path, const std::vector<float>& samples);

/// Everything a reader hands out.
struct Decoded {
  MediaInfo info;
  MediaTime origin;
  std::vector<VideoFrame> frames;
  std::vector<AudioClip> clips;
  MediaReader::Stats stats;

  std::vector<float> samples() const;  ///< of all clips, one after the other
};

Decoded decode(const MediaSource& source, const MediaReader::Options& options = {});
Decoded decode(const std::filesystem::path& path, const MediaReader::Options& options = {});

/// The error that `action` throws, as "code | text"; "none" if it throws nothing.
template <typename Action>
std::string error_of(Action action) {
  try {
    action();
  } catch (const Error& error) {
    return std::string(to_string(error.code())) + " | " + error.what();
  }
  return "none";
}

/// A smooth click (Gaussian, sigma 0.5 ms, height 0.8) at time 0.
double click(double t_s);

/// Sound of `seconds` with clicks at `times`.
std::vector<float> clicks(const std::vector<double>& times, double seconds, int rate_hz);

/// Where in `clips` the click near `expected_s` (within 10 ms) sits, to 0.01 ms: the shift for
/// which the samples agree best with the formula of the click.
double find_click(const std::vector<AudioClip>& clips, double expected_s);

}  // namespace av_fusion
