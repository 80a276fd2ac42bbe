// Copyright 2026 The av_fusion authors. SPDX-License-Identifier: Apache-2.0
// Whether the frame rate of a clip moves its offset: the same clips of real people at many rates,
// against themselves as they are. Converted by blending neighbours at the exact times of the new
// pictures, which has no delay of its own.
#include <gtest/gtest.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

#include "av_fusion/aligner.h"
#include "tests/apps/media_folder.h"
#include "tests/apps/program.h"

namespace av_fusion::test {
namespace {

namespace fs = std::filesystem;

/// Of the median; that of few clips scatters.
double max_bias_ms(std::size_t clips) { return clips >= 20 ? 5 : 10; }

constexpr double kMinClipS = 2.5;
constexpr double kSure = 0.7;  // confidence in a clip; with less a conversion may cost the answer

/// Most clips; AV_FUSION_FRAME_RATE_CLIPS in the environment gives another one (all: 29).
std::size_t clip_count() {
  constexpr std::size_t kDefault = 8;
  const char* const text = std::getenv("AV_FUSION_FRAME_RATE_CLIPS");
  return text == nullptr ? kDefault : static_cast<std::size_t>(std::strtoul(text, nullptr, 10));
}

struct Variant {
  std::string name;
  std::string filter;  ///< of ffmpeg
  bool is_interlaced = false;
};

std::vector<Variant> variants() {
  const std::string at = "minterpolate=mi_mode=blend:fps=";
  std::vector<Variant> result;
  for (const char* rate : {"24000/1001", "24", "30000/1001", "30", "50", "60", "120", "12"}) {
    result.push_back({rate, at + rate});
  }
  result.push_back({"25, coded anew", "null"});
  // A second at 30, one at 15, one with every fifth picture missing.
  result.push_back({"variable", at + "30,select='if(lt(t,1),1,if(lt(t,2),not(mod(n,2)),"
                                     "gt(mod(n,5),0)))'"});
  result.push_back({"25 interlaced, top field first",
                    at + "50,tinterlace=mode=interleave_top,setfield=tff", true});
  result.push_back({"25 interlaced, bottom field first",
                    at + "50,tinterlace=mode=interleave_bottom,setfield=bff", true});
  result.push_back(
      {"24000/1001 telecined to 30000/1001", at + "24000/1001,telecine,setfield=tff", true});
  return result;
}

/// Single people who say one sentence each, none of which the weights were trained on.
std::vector<fs::path> clips(const fs::path& data) {
  std::vector<fs::path> result;
  std::ifstream table(data / "val.tsv");
  for (std::string line; std::getline(table, line);) {
    std::stringstream cells(line);
    std::string clip;
    std::string duration;
    std::getline(cells, clip, '\t');
    std::getline(cells, duration, '\t');
    const bool is_sentence = clip.find("grid_other") != std::string::npos;
    if (is_sentence && std::strtod(duration.c_str(), nullptr) >= kMinClipS) {
      result.push_back(data / clip);
    }
  }
  return result;
}

std::string converted(const MediaFolder& folder, const fs::path& clip, const Variant& variant) {
  std::vector<std::string> arguments{"-i",           clip.string(), "-vf",
                                     variant.filter, "-fps_mode",   "passthrough"};
  const std::vector<std::string> codec =
      variant.is_interlaced
          ? std::vector<std::string>{"-c:v", "mpeg2video", "-q:v", "2", "-flags", "+ildct+ilme"}
          : std::vector<std::string>{"-c:v", "libx264", "-preset",  "ultrafast",
                                     "-crf", "16",      "-pix_fmt", "yuv420p"};
  arguments.insert(arguments.end(), codec.begin(), codec.end());
  arguments.insert(arguments.end(), {"-c:a", "pcm_s16le"});
  return folder.make("clip.mkv", arguments);
}

std::optional<Offset> offset_of(const Aligner& aligner, const fs::path& path) {
  return aligner.align(MediaSource::from_path(path)).alignment.offset;
}

double quantile(std::vector<double> values, double share) {
  std::sort(values.begin(), values.end());
  const double at = share * static_cast<double>(values.size() - 1);
  const auto below = static_cast<std::size_t>(at);
  const std::size_t above = std::min(below + 1, values.size() - 1);
  return values[below] + (at - std::floor(at)) * (values[above] - values[below]);
}

TEST(FrameRate, DoesNotMoveTheOffset) {
  const fs::path shared = AV_FUSION_SHARED_DIR;
  if (shared.empty() || !fs::exists(shared / "data" / "val.tsv")) {
    GTEST_SKIP() << "set AV_FUSION_SHARED_DIR to a folder with data/val.tsv";
  }
  if (!has_ffmpeg()) GTEST_SKIP() << "the ffmpeg program, which converts the clips, is not there";
  const MediaFolder folder;
  const Aligner aligner;
  std::vector<std::pair<fs::path, double>> measured;
  for (const fs::path& clip : clips(shared / "data")) {
    if (measured.size() == clip_count()) break;
    const auto offset = offset_of(aligner, clip);
    if (offset && offset->confidence >= kSure) measured.emplace_back(clip, offset->ms);
  }
  ASSERT_GE(measured.size(), 5U);
  std::printf("%-36s %5s %9s %8s %8s\n", "rate", "clips", "median ms", "lower", "upper quartile");
  for (const Variant& variant : variants()) {
    std::vector<double> moved;
    for (const auto& [clip, offset] : measured) {
      const auto now = offset_of(aligner, converted(folder, clip, variant));
      if (now) moved.push_back(now->ms - offset);
    }
    ASSERT_GE(moved.size() * 2, measured.size()) << variant.name << ": too few are measured";
    const double median = quantile(moved, 0.5);
    std::printf("%-36s %5zu %9.1f %8.1f %8.1f\n", variant.name.c_str(), moved.size(), median,
                quantile(moved, 0.25), quantile(moved, 0.75));
    EXPECT_LE(std::abs(median), max_bias_ms(moved.size())) << variant.name;
  }
}

}  // namespace
}  // namespace av_fusion::test
