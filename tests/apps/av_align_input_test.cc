// Copyright 2026 The av_fusion authors. SPDX-License-Identifier: Apache-2.0
// av_align with its media file on stdin, and the list of streams as JSON.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <unistd.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tests/apps/av_align_program.h"
#include "tests/apps/media_folder.h"
#include "tests/apps/program.h"

namespace av_fusion::test {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

const std::vector<std::string> kReportOnStdin = {"-o", "-", "--quiet", "-"};

/// What was measured and of what: without what may differ between two runs on the same bytes.
json answer_of(const ProgramResult& result) {
  EXPECT_EQ(result.exit_code, 0) << result.err;
  json report = report_of(result);
  report.erase("performance");
  report.at("input").erase("path");
  return report;
}

/// The same without what the container promises about its length, of which a pipe shows less.
json without_duration(json report) {
  report.at("input").erase("duration_s");
  return report;
}

json stream_list_of(const ProgramResult& result) {
  EXPECT_EQ(result.exit_code, 0) << result.err;
  return checked_json(result, "stream-list-1.schema.json");
}

class AvAlignInput : public ::testing::Test {
 protected:
  MediaFolder folder_;
};

class AvAlignInputMedia : public AvAlignInput {
 protected:
  void SetUp() override {
    if (!has_ffmpeg()) GTEST_SKIP() << "the ffmpeg program, which makes the media, is not there";
  }

  std::string remux(const std::string& name) {
    return folder_.make(name, {"-i", kSample, "-c", "copy"});
  }

  /// Pictures, two sounds with titles that are hard to write, and a subtitle.
  std::string make_many_streams() {
    const std::string words = folder_.write("words.srt", "1\n00:00:00,000 --> 00:00:01,000\nHi\n");
    return folder_.make("many.mkv", {"-i",
                                     kSample,
                                     "-i",
                                     words,
                                     "-map",
                                     "0:v",
                                     "-map",
                                     "0:a",
                                     "-map",
                                     "0:a",
                                     "-map",
                                     "1:s",
                                     "-c",
                                     "copy",
                                     "-metadata:s:a:0",
                                     "title=say \"hi\"\n\\ \xe2\x82\xac",
                                     "-metadata:s:a:0",
                                     "language=deu",
                                     "-metadata:s:a:1",
                                     "title=caf\xe9",
                                     "-disposition:a:0",
                                     "0",
                                     "-disposition:a:1",
                                     "default"});
  }
};

// ---------------------------------------------------------------- a file on stdin

TEST_F(AvAlignInput, RedirectedMp4IsReadAsByName) {
  const json by_name = answer_of(av_align({"-o", "-", "--quiet", kSample}));
  EXPECT_EQ(by_name.at("status"), "measured");
  EXPECT_EQ(by_name.at("input").at("container_timing").at("edit_list"), true);
  EXPECT_EQ(answer_of(av_align(kReportOnStdin, FileInput{kSample})), by_name);
}

TEST_F(AvAlignInput, DashIsStdinBehindTwoDashesAsWell) {
  EXPECT_EQ(lines_of(av_align({"--list-streams", "--", "-"}, FileInput{kSample}).out), 2U);
}

TEST_F(AvAlignInput, ReportCallsStdinByADash) {
  const std::vector<std::string> arguments = {"-o", "-", "--duration", "0.5", "-"};
  EXPECT_EQ(report_of(av_align(arguments, FileInput{kSample})).at("input").at("path"), "-");
}

TEST_F(AvAlignInputMedia, RedirectedAndPipedGiveTheSameAnswer) {
  for (const char* name : {"a.mkv", "a.ts"}) {
    SCOPED_TRACE(name);
    const std::string file = remux(name);
    const json by_name = answer_of(av_align({"-o", "-", "--quiet", file}));
    EXPECT_EQ(by_name.at("status"), "measured");
    EXPECT_EQ(answer_of(av_align(kReportOnStdin, FileInput{file})), by_name);
    const std::string bytes = read_file(file);
    EXPECT_EQ(without_duration(answer_of(av_align(kReportOnStdin, PipedInput{bytes}))),
              without_duration(by_name));
  }
}

TEST_F(AvAlignInputMedia, RedirectedMp4MayHaveItsIndexAtTheEnd) {
  const std::string file = remux("end.mp4");
  const json report = answer_of(av_align(kReportOnStdin, FileInput{file}));
  EXPECT_EQ(report.at("status"), "measured");
  EXPECT_EQ(report.at("input").at("container_timing").at("edit_list"), true);
}

TEST_F(AvAlignInput, BeginsWhereStdinStands) {
  const std::string file = folder_.write("behind.mp4", "a line\n" + read_file(kSample));
  EXPECT_EQ(
      report_of(av_align({"-o", "-", "--duration", "2", "-"}, FileInput{file, 7})).at("timeline"),
      report_on(kSample, {"--duration", "2"}).at("timeline"));
  const auto size = static_cast<std::int64_t>(fs::file_size(kSample));
  expect_complaint(av_align({"-"}, FileInput{kSample, size}), 4, "stdin: the file is empty");
  expect_complaint(av_align({"-"}, FileInput{kSample, size + 9}), 4, "stdin: the file is empty");
}

TEST_F(AvAlignInput, PipedMp4WithItsIndexInFront) {
  const std::string bytes = read_file(kSample);
  const json report = answer_of(av_align(kReportOnStdin, PipedInput{bytes}));
  ASSERT_TRUE(report.at("offset_ms").is_number()) << report.at("reason");
  EXPECT_NEAR(report.at("offset_ms").get<double>(), true_sample_offset_ms(), 40);
  EXPECT_EQ(report.at("input").at("truncated"), false);
  EXPECT_TRUE(report.at("input").at("container_timing").at("edit_list").is_null());
}

TEST_F(AvAlignInputMedia, PipedMp4WithItsIndexAtTheEnd) {
  const std::string bytes = read_file(remux("end.mp4"));
  ASSERT_GT(bytes.find("moov"), bytes.find("mdat"));
  expect_complaint(av_align({"-o", "-", "-"}, PipedInput{bytes}), 4,
                   "stdin: has to be read from its end, as an MP4 that is not made for "
                   "streaming, but this source cannot seek: give the file by name, or redirect "
                   "it instead of piping it");
  EXPECT_EQ(lines_of(av_align({"--list-streams", "-"}, PipedInput{bytes}).out), 2U);
}

TEST_F(AvAlignInputMedia, BrokenOffPipeIsMeasuredAsFarAsItGoes) {
  for (const char* name : {"a.mkv", "a.ts"}) {
    SCOPED_TRACE(name);
    const std::string whole = read_file(remux(name));
    const std::size_t cut = whole.size() * 2 / 3 / 188 * 188 + 100;  // inside a transport packet
    const ProgramResult result =
        av_align(kReportOnStdin, PipedInput{std::string_view(whole).substr(0, cut)});
    const json report = answer_of(result);
    EXPECT_EQ(report.at("input").at("truncated"), true);
    ASSERT_TRUE(report.at("offset_ms").is_number()) << report.at("reason");
    EXPECT_NEAR(report.at("offset_ms").get<double>(), true_sample_offset_ms(), 40);
  }
}

TEST_F(AvAlignInputMedia, StopsReadingWhenItHasEnough) {
  std::string bytes = read_file(remux("a.ts"));
  const std::string once = bytes;
  while (bytes.size() < (std::size_t{64} << 20)) bytes += once;  // more than any buffer holds
  const ProgramResult result =
      av_align({"-o", "-", "--quiet", "--duration", "1", "-"}, PipedInput{bytes});
  EXPECT_EQ(report_of(result).at("input").at("truncated"), false);
  EXPECT_LE(result.exit_code, 2) << result.err;
  EXPECT_EQ(av_align({"--list-streams", "-"}, PipedInput{bytes}).exit_code, 0);
  EXPECT_EQ(av_align({"--help"}, PipedInput{bytes}).exit_code, 0);
}

TEST_F(AvAlignInput, NothingOnStdin) {
  expect_complaint(av_align({"-"}), 4, "stdin: the file is empty");
  expect_complaint(av_align({"-"}, PipedInput{""}), 4, "stdin: the file is empty");
  expect_complaint(av_align({"-"}, FileInput{folder_.write("empty", "")}), 4,
                   "stdin: the file is empty");
  expect_complaint(av_align({"-"}, PipedInput{"This is no video at all.\n"}), 4, "stdin: ");
  expect_complaint(av_align({"-"}, FileInput{folder_.path().string()}), 4, "stdin: is a folder");
  expect_complaint(run_program({"sh", "-c", "exec \"$0\" - <&-", AV_FUSION_AV_ALIGN}), 4,
                   "stdin: cannot be read: Bad file descriptor");
}

TEST_F(AvAlignInput, TerminalOnStdin) {
  const int master = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
  if (master < 0 || grantpt(master) != 0 || unlockpt(master) != 0) {
    GTEST_SKIP() << "there are no pseudo-terminals";
  }
  const std::string terminal = ptsname(master);
  expect_complaint(av_align({"-"}, FileInput{terminal}), 3, "stdin: is a terminal");
  expect_complaint(av_align({"--list-streams", "-"}, FileInput{terminal}), 3,
                   "stdin: is a terminal");
  close(master);
}

TEST_F(AvAlignInput, StreamThatStdinLacks) {
  expect_complaint(av_align({"--audio-stream", "7", "-"}, FileInput{kSample}), 3,
                   "stdin: stream 7 does not exist");
  expect_complaint(av_align({"--list-streams", "--audio-stream", "7", "-"}, FileInput{kSample}), 3,
                   "stdin: stream 7 does not exist");
}

TEST_F(AvAlignInput, ReportNeverOverwritesStdin) {
  fs::copy_file(kSample, folder_.file("talk.mp4"));
  const std::string file = folder_.file("talk.mp4");
  fs::create_hard_link(file, folder_.file("twin.mp4"));
  fs::create_symlink(file, folder_.file("link.mp4"));
  for (const char* name : {"talk.mp4", "twin.mp4", "link.mp4"}) {
    SCOPED_TRACE(name);
    const std::string report = folder_.file(name);
    expect_complaint(av_align({"-o", report, "-"}, FileInput{file}), 3, "overwrite");
    expect_complaint(av_align({"--list-streams", "-o", report, "-"}, FileInput{file}), 3,
                     "overwrite");
  }
  EXPECT_EQ(read_file(file), read_file(kSample));
}

TEST_F(AvAlignInput, FileCalledDash) {
  const fs::path before = fs::current_path();
  fs::current_path(folder_.path());
  folder_.write("-", "not a video");
  const ProgramResult named = av_align({"./-"}, FileInput{kSample});
  const ProgramResult replaced = av_align({"--list-streams", "-o", "./-", "-"}, FileInput{kSample});
  fs::current_path(before);
  expect_complaint(named, 4, "./-: ");
  EXPECT_EQ(replaced.exit_code, 0) << replaced.err;
  EXPECT_EQ(stream_list_of({0, read_file(folder_.path() / "-"), ""}).at("streams").size(), 2U);
}

TEST_F(AvAlignInput, HelpExplainsStdin) {
  const std::string help = av_align({"--help"}).out;
  EXPECT_NE(help.find("av_align - < talk.mp4"), std::string::npos) << help;
}

// ---------------------------------------------------------------- the list of streams

TEST_F(AvAlignInputMedia, ListsStreamsAsJson) {
  const std::string file = make_many_streams();
  const ProgramResult result = av_align({"--list-streams", "-o", "-", file});
  EXPECT_EQ(result.err, "");
  const json list = stream_list_of(result);
  EXPECT_EQ(list.at("input").at("path"), file);
  EXPECT_EQ(list.at("input").at("container"), "matroska,webm");
  EXPECT_NEAR(list.at("input").at("duration_s").get<double>(), 9.8, 0.2);
  const json& streams = list.at("streams");
  ASSERT_EQ(streams.size(), 4U);
  const std::vector<std::string> kinds = {"video", "audio", "audio", "other"};
  for (std::size_t i = 0; i < kinds.size(); ++i) {
    EXPECT_EQ(streams[i].at("index"), i);
    EXPECT_EQ(streams[i].at("kind"), kinds[i]);
    EXPECT_EQ(streams[i].at("used"), i == 0 || i == 2) << i;  // the default sound
  }
  EXPECT_EQ(streams[0].at("codec"), "h264");
  EXPECT_EQ(streams[0].at("width"), 480);
  EXPECT_EQ(streams[0].at("height"), 360);
  EXPECT_EQ(streams[0].at("average_fps"), 25);
  EXPECT_TRUE(streams[0].at("title").is_null());
  EXPECT_EQ(streams[1].at("title"), "say \"hi\"\n\\ \xe2\x82\xac");
  EXPECT_EQ(streams[1].at("language"), "deu");
  EXPECT_EQ(streams[1].at("default"), false);
  EXPECT_EQ(streams[1].at("sample_rate_hz"), 44100);
  EXPECT_EQ(streams[1].at("layout"), "mono");
  EXPECT_EQ(streams[2].at("title"), "caf\xef\xbf\xbd");
  EXPECT_EQ(streams[2].at("default"), true);
  EXPECT_EQ(streams[3].at("codec"), "subrip");
}

TEST_F(AvAlignInputMedia, ListFollowsTheChoice) {
  const std::vector<std::string> arguments = {"--list-streams", "--audio-stream", "1", "-o", "-"};
  std::vector<std::string> on_file = arguments;
  on_file.push_back(make_many_streams());
  const json streams = stream_list_of(av_align(on_file)).at("streams");
  EXPECT_EQ(streams[1].at("used"), true);
  EXPECT_EQ(streams[2].at("used"), false);
}

TEST_F(AvAlignInputMedia, ListsStreamsOfStdin) {
  const std::string file = make_many_streams();
  const std::string bytes = read_file(file);
  json by_name = stream_list_of(av_align({"--list-streams", "-o", "-", file}));
  by_name["input"]["path"] = "-";
  const std::vector<std::string> arguments = {"--list-streams", "-o", "-", "-"};
  EXPECT_EQ(stream_list_of(av_align(arguments, FileInput{file})), by_name);
  EXPECT_EQ(stream_list_of(av_align(arguments, PipedInput{bytes})), by_name);
  const std::string text = av_align({"--list-streams", file}).out;
  EXPECT_EQ(lines_of(text), 4U) << text;
  EXPECT_EQ(av_align({"--list-streams", "-"}, FileInput{file}).out, text);
  EXPECT_EQ(av_align({"--list-streams", "-"}, PipedInput{bytes}).out, text);
}

TEST_F(AvAlignInput, ListsStreamsIntoAFile) {
  const std::string list = folder_.file("streams.json");
  const ProgramResult result = av_align({"--list-streams", "-o", list, kSample});
  EXPECT_EQ(result.out + result.err, "");
  EXPECT_EQ(stream_list_of({result.exit_code, read_file(list), ""}).at("streams").size(), 2U);
  fs::remove(list);
  expect_complaint(av_align({"--list-streams", "-o", list, folder_.file("missing.mp4")}), 4,
                   "missing.mp4");
  EXPECT_FALSE(fs::exists(list));
}

}  // namespace
}  // namespace av_fusion::test
