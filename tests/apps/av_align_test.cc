// Copyright 2026 The av_fusion authors. SPDX-License-Identifier: Apache-2.0
// Runs the built av_align as a user would.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "tests/apps/av_align_program.h"
#include "tests/apps/media_folder.h"
#include "tests/apps/program.h"

namespace av_fusion::test {
namespace {

using nlohmann::json;

class AvAlign : public ::testing::Test {
 protected:
  MediaFolder folder_;
};

class AvAlignMedia : public AvAlign {
 protected:
  void SetUp() override {
    if (!has_ffmpeg()) GTEST_SKIP() << "the ffmpeg program, which makes the media, is not there";
  }

  /// Expects exit code 2 and a valid report with this status and a reason.
  void expect_not_measured(const std::string& input, const std::string& status) {
    const ProgramResult result = av_align({"-o", "-", input});
    EXPECT_EQ(result.exit_code, 2) << result.err;
    const json report = report_of(result);
    EXPECT_EQ(report.value("status", ""), status);
    EXPECT_FALSE(report.value("reason", "").empty());
    EXPECT_TRUE(report.at("offset_ms").is_null());
    EXPECT_TRUE(report.at("audio_delay_to_apply_ms").is_null());
    EXPECT_NE(result.err.find("not measured: "), std::string::npos) << result.err;
  }
};

// ---------------------------------------------------------------- the sample

TEST_F(AvAlign, MeasuresTheSample) {
  const ProgramResult result = av_align({"-o", "-", kSample});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  const json report = report_of(result);
  EXPECT_EQ(report.at("status"), "measured") << report.at("reason");
  ASSERT_TRUE(report.at("offset_ms").is_number());
  EXPECT_NEAR(report.at("offset_ms").get<double>(), true_sample_offset_ms(), 40);
  EXPECT_EQ(report.at("direction"), "sound_early");
  EXPECT_EQ(report.at("audio_delay_to_apply_ms"), report.at("offset_ms"));
}

TEST_F(AvAlign, ReportSaysWhatWasUsed) {
  const json report = report_on(kSample, {"--threads", "2"});
  EXPECT_EQ(report.at("tool").at("name"), "av_fusion");
  for (const char* name : {"version", "onednn", "ffmpeg", "opencv"}) {
    EXPECT_FALSE(report.at("tool").at(name).get<std::string>().empty()) << name;
  }
  const json& model = report.at("tool").at("model");
  EXPECT_EQ(model.at("sha256").get<std::string>().size(), 64U);
  EXPECT_FALSE(model.at("licence").get<std::string>().empty());
  EXPECT_FALSE(model.at("training_data").get<std::string>().empty());
  const json& input = report.at("input");
  EXPECT_EQ(input.at("path"), kSample);
  EXPECT_EQ(input.at("audio").at("channel"), "downmix");
  EXPECT_EQ(input.at("video").at("codec"), "h264");
  EXPECT_GT(input.at("video").at("width").get<int>(), 0);
  EXPECT_GT(input.at("duration_s").get<double>(), 1);
  EXPECT_EQ(input.at("truncated"), false);
  // The sample's AAC has a packet of priming, which its edit list hides.
  const json& timing = input.at("container_timing");
  EXPECT_EQ(timing.at("video_start_s"), 0);
  EXPECT_EQ(timing.at("audio_start_s"), 0);
  EXPECT_EQ(timing.at("edit_list"), true);
  const double priming_ms = timing.at("audio_priming_ms").get<double>();
  EXPECT_NEAR(priming_ms, 1024e3 / input.at("audio").at("sample_rate_hz").get<int>(), 0.01);
  EXPECT_NEAR(timing.at("offset_if_ignored_ms").get<double>(), -priming_ms, 0.1);
  const json& performance = report.at("performance");
  EXPECT_EQ(performance.at("threads"), 2);
  EXPECT_GT(performance.at("wall_s").get<double>(), 0);
  EXPECT_GT(performance.at("speed_x_realtime").get<double>(), 0);
  EXPECT_GT(performance.at("peak_rss_mb").get<double>(), 1);
}

TEST_F(AvAlign, MeasuresAPart) {
  const json whole = report_on(kSample);
  const json part = report_on(kSample, {"--start", "2", "--duration", "4"});
  ASSERT_TRUE(part.at("offset_ms").is_number()) << part.at("reason");
  EXPECT_NEAR(part.at("offset_ms").get<double>(), true_sample_offset_ms(), 40);
  ASSERT_EQ(part.at("tracks").size(), 1U);
  const json& track = part.at("tracks").at(0);
  // Times count from the beginning of the file, not of the part.
  EXPECT_NEAR(track.at("start_s").get<double>(), 2, 0.2);
  EXPECT_NEAR(track.at("end_s").get<double>(), 6, 0.2);
  EXPECT_GT(whole.at("tracks").at(0).at("end_s").get<double>(), 6.5);
}

TEST_F(AvAlign, SearchRangeDecidesWhatCanBeMeasured) {
  // 120 ms is the edge of 120 ms and no measurement.
  const json narrow = report_on(kSample, {"--max-offset", "120"});
  EXPECT_EQ(narrow.at("status"), "ambiguous");
  EXPECT_TRUE(narrow.at("offset_ms").is_null());
  const json wide = report_on(kSample, {"--max-offset", "2000"});
  ASSERT_TRUE(wide.at("offset_ms").is_number()) << wide.at("reason");
  EXPECT_NEAR(wide.at("offset_ms").get<double>(), true_sample_offset_ms(), 40);
}

TEST_F(AvAlign, SpeaksToAPerson) {
  const ProgramResult result = av_align({kSample});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_EQ(result.out.rfind("sound ", 0), 0U) << result.out;
  EXPECT_NE(result.out.find(" early (confidence "), std::string::npos) << result.out;
  EXPECT_GT(lines_of(result.out), 2U) << result.out;
  EXPECT_EQ(result.err, "");  // not a terminal: no progress
}

TEST_F(AvAlign, SentenceGoesToStderrBesideAReportOnStdout) {
  const ProgramResult result = av_align({"-o", "-", kSample});
  report_of(result);
  EXPECT_EQ(lines_of(result.err), 1U) << result.err;
  EXPECT_NE(result.err.find("sound "), std::string::npos) << result.err;
}

TEST_F(AvAlign, WritesAReportFile) {
  const std::string file = folder_.write("report.json", "an older report");
  const ProgramResult result = av_align({"-o", file, kSample});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_EQ(lines_of(result.out), 1U) << result.out;
  report_of({0, read_file(file), ""});
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder_.path()), {}), 1);
}

TEST_F(AvAlign, QuietPrintsOnlyWhatWasAskedFor) {
  const ProgramResult alone = av_align({"--quiet", kSample});
  EXPECT_EQ(alone.exit_code, 0);
  EXPECT_EQ(alone.out + alone.err, "");
  const ProgramResult report = av_align({"--quiet", "-o", "-", kSample});
  report_of(report);
  EXPECT_EQ(report.err, "");
  EXPECT_FALSE(av_align({"--quiet", folder_.file("missing.mp4")}).err.empty());
}

TEST_F(AvAlign, ProfileSaysWhereTheTimeWent) {
  const ProgramResult result = av_align({"--quiet", "--profile", kSample});
  EXPECT_EQ(result.out, "");
  double sum = 0;
  std::istringstream lines(result.err);
  for (std::string line; std::getline(lines, line);) {
    const std::string name = line.substr(0, line.find("  "));
    const double seconds = std::stod(line.substr(14));
    if (name == "all") {
      EXPECT_NEAR(seconds, sum, 0.01);
    } else {
      sum += seconds;
      EXPECT_GT(seconds, 0) << name;
    }
  }
  EXPECT_EQ(lines_of(result.err), 11U) << result.err;
}

TEST_F(AvAlign, ToleranceDecidesTheExitCode) {
  const std::vector<std::pair<std::string, int>> cases = {
      {"500,-500", 0},  // all of the interval inside
      {"15,-45", 1},    // all of it outside
      {"atsc-is191", 1},
      {"itu-r-bt1359-acceptability", 1},  // +90
  };
  for (const auto& [tolerance, exit_code] : cases) {
    const ProgramResult result = av_align({"-o", "-", "--tolerance", tolerance, kSample});
    EXPECT_EQ(result.exit_code, exit_code) << tolerance << ": " << result.err;
    const json report = report_of(result);
    EXPECT_EQ(report.at("tolerance").at("verdict"), exit_code == 0 ? "pass" : "fail") << tolerance;
  }
}

TEST_F(AvAlign, UndecidedIsNotOutside) {
  const json report = report_on(kSample);
  ASSERT_TRUE(report.at("interval_ms").is_array()) << report.at("reason");
  const double low = report.at("interval_ms").at(0).get<double>();
  const double high = report.at("interval_ms").at(1).get<double>();
  ASSERT_LT(low, high);
  const std::string limit = std::to_string((low + high) / 2) + ",-500";
  const ProgramResult result = av_align({"-o", "-", "--tolerance", limit, kSample});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_EQ(report_of(result).at("tolerance").at("verdict"), "undecided");
}

// ---------------------------------------------------------------- files that cannot be read

TEST_F(AvAlign, UnreadableInputs) {
  expect_complaint(av_align({folder_.file("missing.mp4")}), 4, "missing.mp4");
  expect_complaint(av_align({folder_.write("empty.mp4", "")}), 4, "empty.mp4");
  expect_complaint(av_align({folder_.write("text.mp4", "This is no video at all.\n")}), 4,
                   "text.mp4");
  expect_complaint(av_align({folder_.path().string()}), 4, folder_.path().filename().string());
}

TEST_F(AvAlign, UnreadableInputLeavesNoReport) {
  const std::string report = folder_.file("report.json");
  EXPECT_EQ(av_align({"-o", report, folder_.file("missing.mp4")}).exit_code, 4);
  EXPECT_FALSE(std::filesystem::exists(report));
}

TEST_F(AvAlignMedia, FastLooksAtPartsOfALongFile) {
  const std::string film =
      folder_.make("film.mkv", {"-stream_loop", "-1", "-i", kSample, "-t", "130", "-c", "copy"});
  const ProgramResult result = av_align({"--fast", "--tolerance", "itu-r-bt1359", "-o", "-", film});
  EXPECT_EQ(result.exit_code, 1) << result.err;  // 120 ms early is outside
  const json report = report_of(result);
  ASSERT_EQ(report.at("parts").size(), 4U);
  EXPECT_NEAR(report.at("offset_ms").get<double>(), true_sample_offset_ms(), 40);
  EXPECT_TRUE(report_on(kSample, {"--fast"}).at("parts").is_null());
  const ProgramResult words = av_align({"--fast", film});
  EXPECT_NE(words.out.find("analysed: 48.0 s in 4 parts"), std::string::npos) << words.out;
}

TEST_F(AvAlign, TruncatedFileIsMeasuredAsFarAsItGoes) {
  if (!has_ffmpeg()) GTEST_SKIP() << "the ffmpeg program, which makes the media, is not there";
  const std::string whole = folder_.make("whole.ts", {"-i", kSample, "-c", "copy"});
  const std::string bytes = read_file(whole);
  const std::string half = folder_.write("half.ts", bytes.substr(0, bytes.size() / 2));
  const ProgramResult result = av_align({"-o", "-", half});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  const json report = report_of(result);
  ASSERT_TRUE(report.at("offset_ms").is_number()) << report.at("reason");
  EXPECT_NEAR(report.at("offset_ms").get<double>(), true_sample_offset_ms(), 40);

  const std::string mp4 =
      folder_.make("whole.mp4", {"-i", kSample, "-c", "copy", "-movflags", "+faststart"});
  const std::string mp4_bytes = read_file(mp4);
  const std::string cut = folder_.write("cut.mp4", mp4_bytes.substr(0, mp4_bytes.size() * 2 / 3));
  EXPECT_EQ(report_on(cut).at("input").at("truncated"), true);
}

// ---------------------------------------------------------------- files with nothing to measure

TEST_F(AvAlignMedia, NoAudio) {
  expect_not_measured(folder_.make("f.mp4", {"-i", kSample, "-map", "0:v", "-c", "copy"}),
                      "no_audio");
}

TEST_F(AvAlignMedia, NoVideo) {
  expect_not_measured(folder_.make("f.mp4", {"-i", kSample, "-map", "0:a", "-c", "copy"}),
                      "no_video");
}

TEST_F(AvAlignMedia, NoFace) {
  expect_not_measured(
      folder_.make("f.mkv", {"-f", "lavfi", "-i", "testsrc=size=320x240:rate=25:duration=4", "-i",
                             kSample, "-map", "0:v", "-map", "1:a", "-shortest"}),
      "no_face");
}

TEST_F(AvAlignMedia, NoSpeech) {
  expect_not_measured(
      folder_.make("f.mkv", {"-i", kSample, "-f", "lavfi", "-i",
                             "anullsrc=channel_layout=mono:sample_rate=16000", "-map", "0:v",
                             "-map", "1:a", "-c:v", "copy", "-shortest"}),
      "no_speech");
}

TEST_F(AvAlignMedia, TooShort) {
  expect_not_measured(folder_.make("f.mkv", {"-i", kSample, "-t", "0.2"}), "too_short");
}

TEST_F(AvAlignMedia, StartBehindTheEnd) {
  const ProgramResult result = av_align({"-o", "-", "--start", "3600", kSample});
  EXPECT_EQ(result.exit_code, 2) << result.err;
  EXPECT_EQ(report_of(result).at("status"), "too_short");
}

TEST_F(AvAlignMedia, NotMeasuredIsSaidInASentence) {
  const std::string silent = folder_.make("f.mp4", {"-i", kSample, "-map", "0:v", "-c", "copy"});
  const ProgramResult result = av_align({silent});
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_EQ(result.out.rfind("not measured: ", 0), 0U) << result.out;
}

// ---------------------------------------------------------------- offsets that are put in

TEST_F(AvAlignMedia, FollowsAnInjectedShift) {
  // The sound 200 ms later than in the sample: 120 - 200 = -80, sound late.
  const std::string later = folder_.make(
      "later.mkv", {"-i", kSample, "-c:v", "copy", "-c:a", "pcm_s16le", "-af", "adelay=200:all=1"});
  const json report = report_on(later);
  ASSERT_TRUE(report.at("offset_ms").is_number()) << report.at("reason");
  EXPECT_NEAR(report.at("offset_ms").get<double>(), true_sample_offset_ms() - 200, 40);
  EXPECT_EQ(report.at("direction"), "sound_late");
}

TEST_F(AvAlignMedia, ObeysTheTimesOfTheContainer) {
  // The same shift, but only in the timestamps.
  const std::string later =
      folder_.make("later.mkv", {"-i", kSample, "-itsoffset", "0.2", "-i", kSample, "-map", "0:v",
                                 "-map", "1:a", "-c:v", "copy", "-c:a", "pcm_s16le"});
  const json report = report_on(later);
  ASSERT_TRUE(report.at("offset_ms").is_number()) << report.at("reason");
  EXPECT_NEAR(report.at("offset_ms").get<double>(), true_sample_offset_ms() - 200, 40);
  // Who ignores them undoes the shift.
  EXPECT_NEAR(report.at("input").at("container_timing").at("offset_if_ignored_ms").get<double>(),
              200, 1);
}

// ---------------------------------------------------------------- names and streams

TEST_F(AvAlign, OddFileNames) {
  for (const char* name :
       {"with space.mp4", "it's \"quoted\".mp4", "two\nlines.mp4", "$(pwned).mp4", "100%s.mp4",
        "co:lon.mp4", "\xc3\xa4\xf0\x9f\x99\x82.mp4"}) {
    std::filesystem::copy_file(kSample, folder_.path() / name);
    const ProgramResult result = av_align({"-o", "-", "--duration", "0.5", folder_.file(name)});
    EXPECT_LE(result.exit_code, 2) << name << ": " << result.err;
    EXPECT_EQ(lines_of(result.err), 1U) << result.err;
    EXPECT_EQ(report_of(result).at("input").at("path"), folder_.file(name));
  }
}

TEST_F(AvAlign, NameWithALeadingDash) {
  std::filesystem::copy_file(kSample, folder_.path() / "-x.mp4");
  const std::filesystem::path before = std::filesystem::current_path();
  std::filesystem::current_path(folder_.path());
  const ProgramResult result = av_align({"-o", "-", "--duration", "0.5", "--", "-x.mp4"});
  std::filesystem::current_path(before);
  EXPECT_LE(result.exit_code, 2) << result.err;
  EXPECT_EQ(report_of(result).at("input").at("path"), "-x.mp4");
}

TEST_F(AvAlignMedia, ListsAndChoosesStreams) {
  const std::string file =
      folder_.make("two.mkv", {"-i", kSample, "-f", "lavfi", "-t", "8", "-i", "sine=frequency=300",
                               "-map", "0:v", "-map", "1:a", "-map", "0:a", "-c:v", "copy"});
  const ProgramResult list = av_align({"--list-streams", file});
  EXPECT_EQ(list.exit_code, 0) << list.err;
  EXPECT_EQ(lines_of(list.out), 3U) << list.out;
  EXPECT_EQ(list.out.rfind("0 video h264", 0), 0U) << list.out;
  EXPECT_NE(list.out.find("\n2 audio "), std::string::npos) << list.out;

  const json speech = report_on(file, {"--audio-stream", "2"});
  EXPECT_EQ(speech.at("input").at("audio").at("stream"), 2);
  EXPECT_EQ(speech.at("status"), "measured");
  const json tone = report_on(file, {"--audio-stream", "1"});
  EXPECT_EQ(tone.at("input").at("audio").at("stream"), 1);
  EXPECT_NE(tone.at("status"), "measured");
  expect_complaint(av_align({"--audio-stream", "7", file}), 3, "7");
}

TEST_F(AvAlignMedia, ListensToTheChannelThatSpeaks) {
  // The voice on the right, noise on the left.
  const std::string file = folder_.make(
      "right.mkv", {"-i", kSample, "-filter_complex",
                    "anoisesrc=d=9.8:r=16000:a=0.2:s=1[n];[0:a]aresample=16000[s];"
                    "[n][s]join=inputs=2:channel_layout=stereo[a]",
                    "-map", "0:v", "-map", "[a]", "-c:v", "copy", "-c:a", "pcm_s16le"});
  const ProgramResult result = av_align({"-o", "-", file});
  const json chosen = report_of(result);
  EXPECT_EQ(chosen.at("input").at("audio").at("channel"), "FR");
  ASSERT_TRUE(chosen.at("offset_ms").is_number()) << chosen.at("reason");
  EXPECT_NEAR(chosen.at("offset_ms").get<double>(), true_sample_offset_ms(), 40);
  EXPECT_EQ(lines_of(result.err), 1U) << result.err;
  for (const char* name : {"FR", "fr", "1"}) {
    const json named = report_on(file, {"--audio-channel", name, "--duration", "1"});
    EXPECT_EQ(named.at("input").at("audio").at("channel"), "FR");
  }
  const json left = report_on(file, {"--audio-channel", "FL"});
  EXPECT_EQ(left.at("input").at("audio").at("channel"), "FL");
  EXPECT_NE(left.at("status"), "measured");
  const json mixed = report_on(file, {"--audio-channel", "downmix", "--duration", "1"});
  EXPECT_EQ(mixed.at("input").at("audio").at("channel"), "downmix");
  expect_complaint(av_align({"--audio-channel", "FC", file}), 3,
                   "no channel \"FC\"; channels are: 0 (FL), 1 (FR)");
}

TEST_F(AvAlignMedia, ListensToAntiphaseAndSaysSo) {
  const std::string file = folder_.make(
      "anti.mkv",
      {"-i", kSample, "-af", "pan=stereo|c0=c0|c1=-1*c0", "-c:v", "copy", "-c:a", "pcm_s16le"});
  const ProgramResult result = av_align({"-o", "-", file});
  const json report = report_of(result);
  EXPECT_EQ(report.at("input").at("audio").at("channel"), "difference");
  ASSERT_TRUE(report.at("offset_ms").is_number()) << report.at("reason");
  EXPECT_NEAR(report.at("offset_ms").get<double>(), true_sample_offset_ms(), 40);
  EXPECT_NE(result.err.find("cancel each other"), std::string::npos) << result.err;
}

// ---------------------------------------------------------------- arguments

TEST_F(AvAlign, WrongArguments) {
  const std::vector<std::pair<std::vector<std::string>, std::string>> cases = {
      {{}, "INPUT"},
      {{kSample, "--no-such-option"}, "--no-such-option"},
      {{kSample, kSample}, "talking_face"},
      {{kSample, "--max-offset", "nan"}, "--max-offset"},
      {{kSample, "--max-offset", "-5"}, "--max-offset"},
      {{kSample, "--max-offset", "1e300"}, "--max-offset"},
      {{kSample, "--max-offset", "500ms"}, "--max-offset"},
      {{kSample, "--max-offset", ""}, "--max-offset"},
      {{kSample, "--start", "-1"}, "--start"},
      {{kSample, "--start", "inf"}, "--start"},
      {{kSample, "--duration", "0"}, "--duration"},
      {{kSample, "--window", "0"}, "--window"},
      {{kSample, "--hop", "-nan"}, "--hop"},
      {{kSample, "--threads", "0"}, "--threads"},
      {{kSample, "--threads", "2.5"}, "--threads"},
      {{kSample, "--threads", "99999999999999999999"}, "--threads"},
      {{kSample, "--audio-stream", "-1"}, "--audio-stream"},
      {{kSample, "--audio-channel", ""}, "audio channel"},
      {{kSample, "--audio-channel", "left one"}, "left one"},
      {{kSample, "--audio-channel", "FR"}, "channels are: 0 (FC)"},
      {{kSample, "--audio-channel", "difference"}, "two channels"},
      {{kSample, "--tolerance", "generous"}, "generous"},
      {{kSample, "--tolerance", "nan,nan"}, "nan"},
      {{kSample, "--start", "1", "--start", "2"}, "--start"},
      {{kSample, "--model", folder_.file("no.safetensors")}, "no.safetensors"},
      {{kSample, "-o", folder_.file("no_folder/report.json")}, "no_folder"},
      {{kSample, "-o", folder_.path().string()}, "folder"},
  };
  for (const auto& [arguments, about] : cases) {
    SCOPED_TRACE(::testing::PrintToString(arguments));
    expect_complaint(av_align(arguments), 3, about);
  }
}

TEST_F(AvAlign, ReportNeverOverwritesTheInput) {
  std::filesystem::copy_file(kSample, folder_.path() / "talk.mp4");
  const std::string file = folder_.file("talk.mp4");
  expect_complaint(av_align({"-o", file, file}), 3, "overwrite");
  EXPECT_EQ(read_file(file), read_file(kSample));
}

TEST_F(AvAlign, ReportToADeviceDoesNotReplaceIt) {
  EXPECT_LE(av_align({"-o", "/dev/null", "--duration", "0.5", kSample}).exit_code, 2);
  EXPECT_TRUE(std::filesystem::is_character_file("/dev/null"));
}

TEST_F(AvAlign, DamagedModelIsNamed) {
  const std::string model = folder_.write("model.safetensors", "not a model");
  expect_complaint(av_align({"--model", model, kSample}), 3, "model.safetensors");
}

TEST_F(AvAlign, HelpExplainsTheSign) {
  const ProgramResult result = av_align({"--help"});
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_EQ(result.err, "");
  for (const char* text :
       {"offset_ms > 0 means sound early (the sound comes before the picture it belongs to)",
        "ITU-R BT.1359-1", "--max-offset", "--audio-channel", "--tolerance", "itu-r-bt1359",
        "Exit codes"}) {
    EXPECT_NE(result.out.find(text), std::string::npos) << text;
  }
}

TEST_F(AvAlign, VersionNamesLibrariesAndModel) {
  const ProgramResult result = av_align({"--version"});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  for (const char* text :
       {"av_align ", "oneDNN ", "FFmpeg ", "OpenCV ", "model ", "licence: ", "training data: "}) {
    EXPECT_NE(result.out.find(text), std::string::npos) << text;
  }
}

}  // namespace
}  // namespace av_fusion::test
