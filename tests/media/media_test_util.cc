// Copyright 2026 The av_fusion authors. SPDX-License-Identifier: Apache-2.0
#include "media_test_util.h"

#include <atomic>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <random>

namespace av_fusion {

namespace fs = std::filesystem;

TempDir::TempDir() {
  static std::atomic<unsigned> count{0};
  std::random_device random;
  path_ = fs::temp_directory_path() /
          ("av_fusion_test_" + std::to_string(random()) + "_" + std::to_string(count++));
  fs::create_directories(path_);
}

TempDir::~TempDir() {
  std::error_code ignored;
  fs::remove_all(path_, ignored);
}

bool TempDir::ffmpeg(const std::string& arguments) const {
  const std::string command = "cd '" + path_.string() + "' && ffmpeg -nostdin -v fatal -y " +
                              arguments + " >/dev/null 2>&1";
  return std::system(command.c_str()) == 0;
}

bool have_ffmpeg_command() {
  static const bool have = std::system("ffmpeg -version >/dev/null 2>&1") == 0;
  return have;
}

void write_file(const fs::path& path, const std::vector<std::uint8_t>& bytes) {
  std::ofstream file(path, std::ios::binary);
  file.write(reinterpret_cast<const char*>(bytes.data()),
             static_cast<std::streamsize>(bytes.size()));
  ASSERT_TRUE(file.good());
}

std::vector<std::uint8_t> read_file(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

void write_floats(const fs::path& path, const std::vector<float>& samples) {
  std::ofstream file(path, std::ios::binary);
  file.write(reinterpret_cast<const char*>(samples.data()),
             static_cast<std::streamsize>(samples.size() * sizeof(float)));
  ASSERT_TRUE(file.good());
}

std::vector<float> Decoded::samples() const {
  std::vector<float> all;
  for (const AudioClip& clip : clips) {
    all.insert(all.end(), clip.samples.begin(), clip.samples.end());
  }
  return all;
}

Decoded decode(const MediaSource& source, const MediaReader::Options& options) {
  MediaReader reader(source, options);
  Decoded all;
  all.info = reader.info();
  all.origin = reader.origin();
  while (auto event = reader.next()) {
    if (auto* frame = std::get_if<VideoFrame>(&*event)) {
      all.frames.push_back(std::move(*frame));
    } else {
      all.clips.push_back(std::move(std::get<AudioClip>(*event)));
    }
  }
  all.stats = reader.stats();
  return all;
}

Decoded decode(const fs::path& path, const MediaReader::Options& options) {
  return decode(MediaSource::from_path(path), options);
}

double click(double t_s) {
  const double x = t_s / 0.5e-3;
  return 0.8 * std::exp(-0.5 * x * x);
}

std::vector<float> clicks(const std::vector<double>& times, double seconds, int rate_hz) {
  std::vector<float> samples(static_cast<std::size_t>(std::lround(seconds * rate_hz)));
  for (std::size_t i = 0; i < samples.size(); ++i) {
    double sum = 0;
    for (const double time : times) sum += click(static_cast<double>(i) / rate_hz - time);
    samples[i] = static_cast<float>(sum);
  }
  return samples;
}

double find_click(const std::vector<AudioClip>& clips, double expected_s) {
  double best = -1;
  double best_s = 1e9;
  for (double at = expected_s - 0.010; at <= expected_s + 0.010; at += 0.00001) {
    double agreement = 0;
    for (const AudioClip& clip : clips) {
      const double offset = at - clip.start.seconds();
      const auto centre = static_cast<std::int64_t>(offset * AudioClip::kSampleRateHz);
      const auto count = static_cast<std::int64_t>(clip.samples.size());
      for (std::int64_t i = std::max<std::int64_t>(centre - 40, 0);
           i < std::min(centre + 41, count); ++i) {
        agreement += static_cast<double>(clip.samples[static_cast<std::size_t>(i)]) *
                     click(static_cast<double>(i) / AudioClip::kSampleRateHz - offset);
      }
    }
    if (agreement > best) {
      best = agreement;
      best_s = at;
    }
  }
  return best_s;
}

}  // namespace av_fusion
