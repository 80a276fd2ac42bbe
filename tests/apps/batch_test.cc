// Copyright 2026 The av_fusion authors. SPDX-License-Identifier: Apache-2.0
// av_align on many files at once, as a user runs it.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <functional>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "tests/apps/av_align_program.h"
#include "tests/apps/media_folder.h"
#include "tests/apps/program.h"

namespace av_fusion::test {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using Names = std::vector<std::string>;

/// Too short to be measured, which takes less time.
const Names kShort = {"--duration", "0.3"};

Names operator+(Names first, const Names& second) {
  first.insert(first.end(), second.begin(), second.end());
  return first;
}

Names sorted(Names names) {
  std::sort(names.begin(), names.end());
  return names;
}

/// Expects nothing but whole lines, each of them a report that follows the schema or a failure.
std::vector<json> whole_lines(const std::string& text) {
  EXPECT_TRUE(text.empty() || text.back() == '\n') << text;
  std::vector<json> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) {
    json content = json::parse(line, nullptr, false);
    EXPECT_FALSE(content.is_discarded()) << line;
    if (content.contains("error")) {
      EXPECT_EQ(content.size(), 2U) << line;
      EXPECT_EQ(content.at("error").size(), 2U) << line;
      EXPECT_FALSE(content.at("error").at("code").get<std::string>().empty());
      EXPECT_FALSE(content.at("error").at("message").get<std::string>().empty());
    } else {
      report_of({0, line, ""});
    }
    lines.push_back(std::move(content));
  }
  return lines;
}

Names paths_of(const std::vector<json>& lines) {
  Names paths;
  for (const json& line : lines) paths.push_back(line.at("input").at("path").get<std::string>());
  return sorted(std::move(paths));
}

std::string last_line(const std::string& text) {
  const std::string rest = text.substr(0, text.find_last_not_of('\n') + 1);
  return rest.substr(rest.rfind('\n') + 1);  // all of it if there is none
}

/// False if it does not come true for a long time.
bool wait_until(const std::function<bool()>& is_true) {
  for (int i = 0; i < 6000; ++i) {
    if (is_true()) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return false;
}

class Batch : public ::testing::Test {
 protected:
  /// Files that are not there: the quickest to be done with.
  Names missing(int count) const {
    Names names;
    for (int i = 0; i < count; ++i) names.push_back(folder_.file("no" + std::to_string(i)));
    return names;
  }

  /// Copies of the sample.
  Names copies(int count) const {
    Names names;
    for (int i = 0; i < count; ++i) {
      names.push_back(folder_.file("talk" + std::to_string(i) + ".mp4"));
      fs::copy_file(kSample, names.back());
    }
    return names;
  }

  ProgramResult run(const Names& arguments, const ProgramInput& input = NoInput{}) const {
    return av_align(Names{"--jsonl", output_} + arguments, input);
  }

  ProgramResult run_meanwhile(const Names& arguments, const WhileRunning& meanwhile) const {
    return run_program(Names{AV_FUSION_AV_ALIGN, "--jsonl", output_} + arguments, NoInput{},
                       meanwhile);
  }

  std::string content() const { return read_file(output_); }
  std::vector<json> lines() const { return whole_lines(content()); }

  /// Expects a complaint about the output, which stays as it is.
  void expect_refused(const std::string& before, const std::string& about) const {
    SCOPED_TRACE(before);
    folder_.write("out.jsonl", before);
    const ProgramResult result = run(missing(1));
    expect_complaint(result, 3, about);
    EXPECT_NE(result.err.find(output_), std::string::npos) << result.err;
    EXPECT_EQ(content(), before);
  }

  MediaFolder folder_;
  const std::string output_ = folder_.file("out.jsonl");
};

// ---------------------------------------------------------------- what is written

TEST_F(Batch, LineIsTheReportOfASingleRun) {
  EXPECT_EQ(run({kSample}).exit_code, 0);
  ASSERT_EQ(lines().size(), 1U);
  json line = lines().at(0);
  json report = report_on(kSample);
  EXPECT_EQ(line.erase("performance"), 1U);
  report.erase("performance");
  EXPECT_EQ(line, report);
  EXPECT_EQ(line.at("status"), "measured");
}

TEST_F(Batch, TwoAtATimeAreAllDoneAndOneBadFileStopsNothing) {
  const Names inputs = copies(3) + Names{folder_.write("empty.mp4", "")} + missing(1) +
                       Names{folder_.write("text.mp4", "no video"), folder_.path().string()};
  const ProgramResult result = run(Names{"--jobs", "2"} + inputs);
  EXPECT_EQ(result.exit_code, 4) << result.err;
  EXPECT_EQ(result.out, "");
  EXPECT_EQ(paths_of(lines()), sorted(inputs));
  for (const json& line : lines()) {
    const std::string path = line.at("input").at("path");
    const bool is_copy = path.find("talk") != path.npos;
    EXPECT_EQ(line.contains("error"), !is_copy) << line;
    if (is_copy) {
      EXPECT_NEAR(line.at("offset_ms").get<double>(), true_sample_offset_ms(), 40);
    }
    const bool is_in_messages = result.err.find(path) != result.err.npos;
    EXPECT_EQ(is_in_messages, !is_copy) << result.err;
  }
  EXPECT_EQ(last_line(result.err), "av_align: 3 measured, 0 not measured, 4 failed, 0 skipped");
}

TEST_F(Batch, SlowFileHoldsNobodyUpAndItsLineIsTheLast) {
  const std::string pipe = folder_.file("pipe");
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  const ProgramResult result =
      run_meanwhile(Names{"--jobs", "2", pipe} + missing(3), [&](int /*process*/) {
        EXPECT_TRUE(wait_until([&] { return lines_of(content()) == 3; }));
        close(open(pipe.c_str(), O_WRONLY | O_CLOEXEC));  // nothing comes through it
      });
  EXPECT_EQ(result.exit_code, 4) << result.err;
  ASSERT_EQ(lines().size(), 4U);
  EXPECT_EQ(lines().back().at("input").at("path"), pipe);
}

TEST_F(Batch, FailureHasItsCode) {
  run(Names{folder_.write("empty.mp4", "")} + missing(1));
  ASSERT_EQ(lines().size(), 2U);
  EXPECT_EQ(lines().at(0).at("error").at("code"), "corrupt_data");
  EXPECT_EQ(lines().at(1).at("error").at("code"), "not_found");
}

TEST_F(Batch, StandardOutputHoldsNothingButLines) {
  const ProgramResult result = av_align(kShort + Names{"--jsonl", "-", kSample} + missing(1));
  EXPECT_EQ(result.exit_code, 4);
  EXPECT_EQ(paths_of(whole_lines(result.out)), sorted(Names{kSample} + missing(1)));
  EXPECT_EQ(lines_of(result.err), 2U) << result.err;
}

TEST_F(Batch, QuietPrintsOnlyErrors) {
  const ProgramResult result = run(kShort + Names{"--quiet", kSample} + missing(1));
  EXPECT_EQ(result.out, "");
  EXPECT_EQ(lines_of(result.err), 1U) << result.err;
  EXPECT_NE(result.err.find(missing(1)[0]), std::string::npos) << result.err;
  EXPECT_EQ(lines().size(), 2U);
}

TEST_F(Batch, OddNames) {
  const Names inputs = {folder_.file("two\nlines"),
                        folder_.file("it's \"quoted\""),
                        folder_.file("tab\tand \\"),
                        folder_.file("\xc3\xa4\xf0\x9f\x99\x82"),
                        "[x,y]",
                        "[]",
                        "{}",
                        "%%",
                        "\x01",
                        "a,b"};
  const Names raw = {folder_.file("\xff"), folder_.file("\xfe")};
  const Names shown = {folder_.file("\xef\xbf\xbd"), folder_.file("\xef\xbf\xbd")};
  const ProgramResult first = run(inputs + raw);
  EXPECT_EQ(paths_of(lines()), sorted(inputs + shown));
  EXPECT_EQ(lines_of(first.err), inputs.size() + 3) << first.err;
  const std::string before = content();
  const ProgramResult second = run(inputs + raw);
  EXPECT_EQ(content(), before);
  EXPECT_EQ(last_line(second.err), "av_align: 0 measured, 0 not measured, 0 failed, 12 skipped");
}

TEST_F(Batch, NamesThatLookAlikeAreNotMistakenForEachOther) {
  run({folder_.file("\xff")});
  run({folder_.file("\xff"), folder_.file("\xfe")});
  EXPECT_EQ(lines().size(), 3U);  // nobody can tell whose the first one is
}

TEST_F(Batch, SameInputTwiceIsDoneOnce) {
  const std::string list = folder_.write("list", missing(2)[1] + "\n" + missing(1)[0] + "\n");
  run(missing(1) + missing(1) + Names{"--list", list});
  EXPECT_EQ(paths_of(lines()), missing(2));
}

// ---------------------------------------------------------------- exit codes

TEST_F(Batch, ExitCodeIsTheWorst) {
  const std::string talk = copies(1)[0];
  EXPECT_EQ(run({talk}).exit_code, 0);
  // Skipped files count, judged by the tolerance of now.
  EXPECT_EQ(run({talk}).exit_code, 0);
  EXPECT_EQ(run({talk, "--tolerance", "500,-500"}).exit_code, 0);
  EXPECT_EQ(run({talk, "--tolerance", "15,-45"}).exit_code, 1);
  EXPECT_EQ(lines().size(), 1U);
  const ProgramResult outside = av_align({"--jsonl", "-", "--tolerance", "15,-45", talk});
  EXPECT_EQ(outside.exit_code, 1);
  EXPECT_EQ(last_line(outside.err),
            "av_align: 1 measured (1 outside the tolerance), 0 not measured, 0 failed, 0 skipped");
  EXPECT_EQ(run(kShort + Names{kSample}).exit_code, 2);
  EXPECT_EQ(run({talk, kSample, "--tolerance", "15,-45"}).exit_code, 2);
  EXPECT_EQ(run(Names{talk, kSample} + missing(1)).exit_code, 4);
  EXPECT_EQ(run(Names{talk, kSample} + missing(1)).exit_code, 4);
  EXPECT_EQ(run({talk}).exit_code, 0);
}

TEST_F(Batch, NothingToDoIsNoError) {
  const ProgramResult result = run({"--list", folder_.write("list", "# none today\n")});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_TRUE(fs::exists(output_));
  EXPECT_EQ(content(), "");
}

// ---------------------------------------------------------------- resume

TEST_F(Batch, GoesOnWhereItStopped) {
  run(missing(2));
  const std::string before = content();
  const ProgramResult result = run(missing(4));
  EXPECT_EQ(content().substr(0, before.size()), before);
  EXPECT_EQ(paths_of(lines()), missing(4));
  EXPECT_EQ(last_line(result.err), "av_align: 0 measured, 0 not measured, 2 failed, 2 skipped");
}

TEST_F(Batch, CutsALineThatIsNotWhole) {
  run(kShort + Names{kSample});
  const std::string report = content();
  run(missing(1));
  const std::string both = content();
  const std::string failure = both.substr(report.size());
  for (const std::string& line : {report, failure}) {
    Names rests = {line.substr(0, line.size() / 2) + "\n"};  // no JSON
    for (const std::size_t length : {std::size_t{1}, std::size_t{2}, std::size_t{30},
                                     line.size() / 2, line.size() - 2, line.size() - 1}) {
      rests.push_back(line.substr(0, length));
    }
    for (const std::string& rest : rests) {
      folder_.write("out.jsonl", report + rest);
      const ProgramResult result = run({kSample});
      EXPECT_EQ(result.exit_code, 2) << rest << result.err;
      EXPECT_EQ(content(), report) << rest;
    }
  }
  folder_.write("out.jsonl", report + failure.substr(0, 40));
  run(Names{kSample} + missing(1));
  EXPECT_EQ(content(), both);
}

TEST_F(Batch, RefusesAFileThatIsNotItsOwn) {
  run(missing(2));
  const std::string good = content();
  const std::string line = good.substr(0, good.find('\n') + 1);
  expect_refused(line + line.substr(0, 20) + "\n" + line, "line 2 ");
  expect_refused(line + "\n\n{\"input\": 5}\n" + line, "line 4 ");
  expect_refused("{\"some\": \"settings\"}", "line 1 ");
  expect_refused("{\"some\": \"settings\"}\n", "line 1 ");
  expect_refused("dear diary", "line 1 ");
  expect_refused(line + std::string(40, '\0'), "line 2 ");
  expect_refused(report_of(av_align(kShort + Names{"-o", "-", kSample})).dump(2), "line 1 ");
  expect_refused(read_file(kSample), "line 1 ");
}

TEST_F(Batch, FailuresAreDoneAgainIfAskedFor) {
  const std::string file = folder_.file("no0");
  run(kShort + Names{file, kSample});
  fs::copy_file(kSample, file);
  EXPECT_EQ(run(kShort + Names{file, kSample}).exit_code, 4);
  EXPECT_EQ(lines().size(), 2U);
  EXPECT_EQ(run(kShort + Names{"--retry-failed", file, kSample}).exit_code, 2);
  ASSERT_EQ(lines().size(), 3U);
  EXPECT_EQ(lines().back().at("input").at("path"), file);
  EXPECT_TRUE(lines().back().contains("status"));
  EXPECT_EQ(run(kShort + Names{"--retry-failed", file, kSample}).exit_code, 2);
  EXPECT_EQ(run(kShort + Names{file, kSample}).exit_code, 2);
  EXPECT_EQ(lines().size(), 3U);
}

TEST_F(Batch, OneWriterAtATime) {
  folder_.write("out.jsonl", "");
  const int other = open(output_.c_str(), O_RDONLY | O_CLOEXEC);
  ASSERT_EQ(flock(other, LOCK_EX), 0);
  expect_complaint(run(missing(1)), 3, "another process");
  close(other);
  EXPECT_EQ(run(missing(1)).exit_code, 4);
}

// ---------------------------------------------------------------- lists

TEST_F(Batch, ReadsAList) {
  const Names names = missing(5);
  const std::string text = "\xef\xbb\xbf" + names[1] + "\n\n# a remark\n" + names[2] + "\r\n#" +
                           names[0] + "\n\r\n" + names[3];
  run({names[4], "--list", folder_.write("list", text)});
  EXPECT_EQ(paths_of(lines()), Names(names.begin() + 1, names.end()));
  const std::string before = content();
  EXPECT_EQ(run({"--list", "-"}, PipedInput{text}).exit_code, 4);
  EXPECT_EQ(content(), before);
  run({"--list", "-"}, PipedInput{names[0]});
  EXPECT_EQ(paths_of(lines()), names);
}

TEST_F(Batch, NamesInAListCountFromTheCurrentFolder) {
  fs::create_directory(folder_.path() / "lists");
  const std::string list = folder_.write("lists/list", "talk0.mp4\nsub folder/a #1.mp4\n");
  copies(1);
  const fs::path before = fs::current_path();
  fs::current_path(folder_.path());
  const ProgramResult result = run(kShort + Names{"--list", list});
  fs::current_path(before);
  ASSERT_EQ(lines().size(), 2U) << result.err;
  EXPECT_EQ(lines().at(0).at("input").at("path"), "talk0.mp4");
  EXPECT_TRUE(lines().at(0).contains("status"));
  EXPECT_EQ(lines().at(1).at("input").at("path"), "sub folder/a #1.mp4");
}

TEST_F(Batch, RefusesWhatIsNoList) {
  expect_complaint(run({"--list", folder_.file("nolist")}), 3, "nolist");
  expect_complaint(run({"--list", folder_.path().string()}), 3, folder_.path().string());
  expect_complaint(run({"--list", kSample}), 3, kSample);
  expect_complaint(run({"--list", folder_.write("list", "a\n\n-\n")}), 3, "line 3");
  EXPECT_FALSE(fs::exists(output_));
}

// ---------------------------------------------------------------- signals

TEST_F(Batch, SignalLeavesWholeLinesAndTheNextRunCompletes) {
  const Names inputs = copies(24);
  std::size_t num_before = 0;
  for (const int signal : {SIGINT, SIGTERM}) {
    const ProgramResult result =
        run_meanwhile(kShort + Names{"--jobs", "2"} + inputs, [&](int process) {
          EXPECT_TRUE(wait_until([&] { return lines_of(content()) > num_before; }));
          kill(process, signal);
        });
    EXPECT_EQ(result.exit_code, 128 + signal) << result.err;
    EXPECT_NE(last_line(result.err).find("stopped: "), std::string::npos) << result.err;
    EXPECT_GT(lines().size(), num_before);
    EXPECT_LT(lines().size(), inputs.size());
    num_before = lines().size();
  }
  const std::string before = content();
  EXPECT_EQ(run(kShort + Names{"--jobs", "2"} + inputs).exit_code, 2);
  EXPECT_EQ(content().substr(0, before.size()), before);
  EXPECT_EQ(paths_of(lines()), sorted(inputs));
}

TEST_F(Batch, SignalEndsALongFileSoonAndWithoutALine) {
  if (!has_ffmpeg()) GTEST_SKIP() << "the ffmpeg program, which makes the media, is not there";
  const std::string film =
      folder_.make("film.mkv", {"-stream_loop", "60", "-i", kSample, "-c", "copy"});
  const ProgramResult result = run_meanwhile({film}, [&](int process) {
    EXPECT_TRUE(wait_until([&] { return fs::exists(output_); }));
    std::this_thread::sleep_for(std::chrono::milliseconds(500));
    kill(process, SIGINT);
  });
  EXPECT_EQ(result.exit_code, 130) << result.err;
  EXPECT_EQ(content(), "");
  EXPECT_EQ(last_line(result.err),
            "av_align: stopped: 0 measured, 0 not measured, 0 failed, 0 skipped, 1 left");
}

TEST_F(Batch, SignalBeginsNoOtherFile) {
  const std::string pipe = folder_.file("pipe");
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  const ProgramResult result = run_meanwhile(Names{pipe} + missing(3), [&](int process) {
    EXPECT_TRUE(wait_until([&] { return fs::exists(output_); }));
    const int writer = open(pipe.c_str(), O_WRONLY | O_CLOEXEC);  // waits for the reader
    kill(process, SIGTERM);
    std::this_thread::sleep_for(std::chrono::milliseconds(300));
    close(writer);
  });
  EXPECT_EQ(result.exit_code, 143) << result.err;
  EXPECT_LE(lines().size(), 1U);
  EXPECT_NE(last_line(result.err).find(", 3 left"), std::string::npos) << result.err;
}

TEST_F(Batch, SecondSignalEndsAtOnce) {
#ifdef __SANITIZE_THREAD__
  GTEST_SKIP() << "the thread sanitizer holds signals back while the program waits";
#endif
  const std::string pipe = folder_.file("pipe");
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);  // nobody ever writes into it
  const ProgramResult result = run_meanwhile({pipe}, [&](int process) {
    EXPECT_TRUE(wait_until([&] { return fs::exists(output_); }));
    kill(process, SIGINT);
    std::this_thread::sleep_for(std::chrono::milliseconds(300));
    EXPECT_EQ(kill(process, SIGTERM), 0);
    std::this_thread::sleep_for(std::chrono::milliseconds(300));
    close(open(pipe.c_str(), O_WRONLY | O_NONBLOCK | O_CLOEXEC));  // frees one that goes on
  });
  EXPECT_EQ(result.exit_code, 1000 + SIGTERM) << result.err;
}

// ---------------------------------------------------------------- outputs that fail

TEST_F(Batch, OutputThatCannotBeWrittenStopsEverything) {
  const Names inputs = {"--jobs", "2", folder_.file("a"), folder_.file("b")};
  expect_complaint(av_align(Names{"--jsonl", "/dev/full"} + inputs), 3, "/dev/full");
  expect_complaint(av_align(Names{"--jsonl", folder_.file("no_folder/a.jsonl")} + inputs), 3,
                   "no_folder");
  expect_complaint(av_align(Names{"--jsonl", folder_.path().string()} + inputs), 3, "irectory");
}

TEST_F(Batch, ClosedPipeStopsEverything) {
  const std::string code = folder_.file("code");
  const std::string script = "{ \"$@\"; echo $? > \"$0\"; } | true";
  const ProgramResult result = run_program(
      Names{"sh", "-c", script, code, AV_FUSION_AV_ALIGN, "--jsonl", "-"} + missing(300));
  EXPECT_EQ(read_file(code), "3\n");
  EXPECT_NE(last_line(result.err).find("standard output: cannot write"), std::string::npos)
      << result.err;
}

TEST_F(Batch, FullDiskLeavesWholeLines) {
  // As if the disk were full: no file may grow beyond some kilobytes. The last line that is tried
  // fits in part.
  const ProgramResult result =
      run_program(Names{"sh", "-c", "ulimit -f 4; exec \"$@\"", "sh", AV_FUSION_AV_ALIGN, "--quiet",
                        "--jsonl", output_} +
                  missing(40));
  EXPECT_EQ(result.exit_code, 3);
  EXPECT_GT(lines().size(), 0U);
  EXPECT_LT(lines().size(), 40U);
  EXPECT_EQ(run(missing(40)).exit_code, 4);
  EXPECT_EQ(paths_of(lines()), sorted(missing(40)));
}

TEST_F(Batch, MissingFaceModelIsNotTheFaultOfTheFiles) {
  const Names model = {"--face-model", folder_.file("no.dat")};
  expect_complaint(run(model + Names{kSample}), 3, "no.dat");
  EXPECT_EQ(content(), "");
}

// ---------------------------------------------------------------- arguments

TEST_F(Batch, WrongArguments) {
  const std::string list = folder_.write("list", kSample + "\n");
  const std::vector<std::pair<Names, std::string>> cases = {
      {{kSample, "second.mp4"}, "second.mp4"},
      {{kSample, "second.mp4"}, "--jsonl"},
      {{"--list", list}, "--jsonl"},
      {{"--list", list, "-o", output_}, "--report"},
      {{"--jsonl", output_, kSample, "-o", output_}, "--report"},
      {{"--jsonl", output_, "-"}, "stdin"},
      {{"--jsonl", output_, kSample, "-"}, "stdin"},
      {{"--jsonl", output_, kSample, ""}, "INPUT"},
      {{"--jsonl", output_}, "INPUT"},
      {{"--jsonl", "", kSample}, "--jsonl"},
      {{"--jsonl", output_, "--list", ""}, "--list"},
      {{"--jsonl", output_, kSample, "--list-streams"}, "--list-streams"},
      {{"--jsonl", output_, kSample, "--profile"}, "--profile"},
      {{"--jsonl", output_, kSample, "--jobs", "0"}, "--jobs"},
      {{"--jsonl", output_, kSample, "--jobs", "65"}, "--jobs"},
      {{"--jsonl", output_, kSample, "--model", folder_.file("no.safetensors")}, "no.safetensors"},
      {{kSample, "--retry-failed"}, "--retry-failed"},
  };
  for (const auto& [arguments, about] : cases) {
    SCOPED_TRACE(::testing::PrintToString(arguments));
    expect_complaint(av_align(arguments), 3, about);
    EXPECT_FALSE(fs::exists(output_));
  }
}

/// Every length of a clip needs other kernels, which must not all be kept.
TEST_F(Batch, MemoryDoesNotGrowWithTheLengthsOfTheClips) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "sanitizers keep freed memory";
#endif
  if (!has_ffmpeg()) GTEST_SKIP() << "the ffmpeg program is not there";
  Names clips;
  for (int i = 0; i < 25; ++i) {
    clips.push_back(folder_.make("clip" + std::to_string(i) + ".mkv",
                                 {"-i", kSample, "-t", std::to_string(0.6 + 0.04 * i), "-c:v",
                                  "mjpeg", "-q:v", "3", "-c:a", "pcm_s16le"}));
  }
  const ProgramResult result = run(clips);
  std::vector<double> peaks_mb;
  for (const json& line : lines()) {
    peaks_mb.push_back(line.at("performance").at("peak_rss_mb").get<double>());
  }
  ASSERT_EQ(peaks_mb.size(), clips.size()) << result.err;
  EXPECT_LT(peaks_mb.back(), peaks_mb.front() + 60);  // 250 if all are kept
}

}  // namespace
}  // namespace av_fusion::test
