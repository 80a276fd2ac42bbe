// Copyright 2026 The av_fusion authors. SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <map>
#include <sstream>

#include "media_test_util.h"

// The true offsets of files whose timing is tricky (start times, edit lists, priming, clock
// wraps), measured without this reader: see measure_expected_offsets.py beside the list.

namespace av_fusion {
namespace {

namespace fs = std::filesystem;

constexpr const char* kCases =
    "in_sync audio_late_200 audio_early_120 subframe_13ms audio_late_1500 mp4_no_editlist "
    "fragmented_mp4 mp4_itsoffset avi_mp3 opus_preskip ts_start ts_wrap two_tracks cover_first "
    "data_stream rotate tenbit audio_starts_760ms video_starts_500ms";

// Loudness at every millisecond after `zero`, smoothed over 21 ms.
std::vector<double> envelope(const std::vector<AudioClip>& clips, MediaTime zero, int length_ms) {
  std::vector<double> level(static_cast<std::size_t>(length_ms));
  for (const AudioClip& clip : clips) {
    for (std::size_t i = 0; i < clip.samples.size(); ++i) {
      const double ms = (clip.start - zero).ms() + static_cast<double>(i) / 16;
      if (ms < 0 || ms >= length_ms) continue;
      level[static_cast<std::size_t>(ms)] += std::abs(clip.samples[i]) / 16.0;
    }
  }
  std::vector<double> smooth(level.size());
  for (int i = 10; i + 10 < length_ms; ++i) {
    for (int j = -10; j <= 10; ++j) {
      smooth[static_cast<std::size_t>(i)] += level[static_cast<std::size_t>(i + j)] / 21;
    }
  }
  return smooth;
}

// The delay in ms with which `late` follows `reference`: smallest mean absolute difference, where
// both were recorded.
int lag_ms(const std::vector<double>& reference, const std::vector<double>& late, int first_ms,
           int last_ms) {
  double best = INFINITY;
  int best_lag = 0;
  for (int lag = -1600; lag <= 1600; ++lag) {
    double sum = 0;
    int count = 0;
    for (int i = 800; i < 3400; i += 3) {
      const int j = i + lag;
      if (j < first_ms || j >= last_ms) continue;
      sum += std::abs(reference[static_cast<std::size_t>(i)] - late[static_cast<std::size_t>(j)]);
      ++count;
    }
    if (count < 300) continue;
    if (sum / count < best) {
      best = sum / count;
      best_lag = lag;
    }
  }
  return best_lag;
}

struct Row {
  std::string file;
  int track = 1;
  double offset_ms = 0;
};

std::vector<Row> read_rows(const fs::path& path) {
  std::vector<Row> rows;
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  while (std::getline(file, line)) {
    std::vector<std::string> cells;
    std::stringstream cell_stream(line);
    for (std::string cell; std::getline(cell_stream, cell, '\t');) cells.push_back(cell);
    if (cells.size() < 5) continue;
    const std::size_t track = cells[0].find(" track ");
    Row row{cells[0].substr(0, track), 1, std::stod(cells[4])};
    if (track != std::string::npos) row.track = std::stoi(cells[0].substr(track + 7));
    rows.push_back(row);
  }
  return rows;
}

// The number of the `track`-th audio stream, from 1.
int audio_stream(const fs::path& path, int track) {
  const MediaReader reader(MediaSource::from_path(path));
  for (const StreamInfo& stream : reader.info().streams) {
    if (stream.kind == StreamInfo::Kind::kAudio && --track == 0) return stream.index;
  }
  return -1;
}

// What a player adds to the true offset that ignores edit lists, priming and start times: from the
// commands that make the files, and the priming of their encoders.
const std::map<std::string, double> kShifts = {{"in_sync.mkv", 0},
                                               {"base.mp4", -21},
                                               {"audio_late_200.mkv", 0},
                                               {"mp4_no_editlist.mp4", 0},
                                               {"fragmented.mp4", 0},
                                               {"mp4_itsoffset.mp4", 178},
                                               {"avi_mp3.avi", 0},
                                               {"ts_start.ts", -21},
                                               {"ts_wrap.ts", -21},
                                               {"two_tracks.mkv", -21},
                                               {"cover_second.mp4", -21},
                                               {"audio_starts_760ms.mkv", 760},
                                               {"video_starts_500ms.mkv", -500}};

TEST(ExpectedOffsetsTest, EveryFileWithinFiveMilliseconds) {
  const fs::path shared = AV_FUSION_SHARED_DIR;
  if (shared.empty() || !fs::exists(shared / "cases" / "make_cases.sh")) {
    GTEST_SKIP() << "set AV_FUSION_SHARED_DIR to a folder with cases/make_cases.sh";
  }
  REQUIRE_FFMPEG_COMMAND();
  const TempDir dir;
  const std::string make = "bash '" + (shared / "cases" / "make_cases.sh").string() + "' '" +
                           dir.path().string() + "' " + kCases + " >/dev/null 2>&1";
  ASSERT_EQ(std::system(make.c_str()), 0);
  constexpr int kLengthMs = 6500;
  const std::vector<double> reference =
      envelope(decode(dir / "base.mkv").clips, MediaTime{}, kLengthMs);
  const std::vector<Row> rows = read_rows(shared / "cases" / "expected_offsets.tsv");
  EXPECT_EQ(rows.size(), 21U);
  for (const Row& row : rows) {
    MediaReader::Options options;
    options.audio_stream = audio_stream(dir / row.file, row.track);
    const Decoded decoded = decode(dir / row.file, options);
    ASSERT_FALSE(decoded.frames.empty()) << row.file;
    MediaTime zero = decoded.frames.front().time;  // of the picture that was the first in base.mkv
    if (row.file == "video_starts_500ms.mkv") zero = zero - MediaDuration::from_ms(480);
    const int first_ms =
        std::max(0, static_cast<int>((*decoded.stats.first_sample - zero).ms()) + 11);
    const int last_ms =
        std::min(kLengthMs, static_cast<int>((*decoded.stats.end_of_sound - zero).ms()) - 11);
    const int lag = lag_ms(reference, envelope(decoded.clips, zero, kLengthMs), first_ms, last_ms);
    EXPECT_NEAR(-lag, row.offset_ms, 5) << row.file << " track " << row.track;
    const auto shift = kShifts.find(row.file);
    if (shift == kShifts.end() || row.track != 1) continue;
    EXPECT_NEAR(decoded.info.timing.shift_if_ignored()->ms(), shift->second, 2) << row.file;
  }
}

}  // namespace
}  // namespace av_fusion
