// Copyright 2026 The av_fusion authors. SPDX-License-Identifier: Apache-2.0
#include "command_line.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <cstdio>
#include <functional>
#include <string_view>

#include "av_fusion/core/error.h"
#include "complain.h"
#include "exit_code.h"
#include "standard_input.h"

namespace av_align {
namespace {

using av_fusion::MediaDuration;

constexpr const char* kDescription =
    "Measures how well lips and speech line up in a video file.\n\n"
    "Sign: offset_ms > 0 means sound early (the sound comes before the picture it belongs to),\n"
    "< 0 means sound late. This is the sign of ITU-R BT.1359-1. Delaying the sound by offset_ms\n"
    "corrects the file.\n";

constexpr const char* kFooter =
    "\nExit codes: 0 measured (and not outside the tolerance, if one was named; an interval that\n"
    "lies across a limit is undecided and gives 0); 1 measured and outside the tolerance; 2 not\n"
    "measurable, the status says why; 3 wrong arguments, or a report that cannot be written;\n"
    "4 unreadable input. A batch: the highest of 0, 1, 2 and 4 among its files, the skipped ones\n"
    "included; 130 or 143 if Ctrl-C or SIGTERM ended it.\n\n"
    "Batch: several INPUTs, --list or --jsonl. One bad file stops nothing; its line has an error\n"
    "instead of a report. Ctrl-C drops the files that are being measured and leaves whole lines;\n"
    "a second one ends at once. The same command again goes on: names that have a line in FILE\n"
    "are skipped, whatever the options then were, a line that was cut short is removed, new lines\n"
    "are appended (with --retry-failed the last line of a name counts). A name given twice is "
    "done\n"
    "once. Each of the --jobs files at a time uses --threads threads.\n\n"
    "With - for INPUT the media file is read from stdin: as by name if a file is redirected\n"
    "(av_align - < talk.mp4); from front to back if it comes through a pipe, which an MP4 with "
    "its\n"
    "index at the end does not allow.\n\n"
    "A name that begins with a dash follows \"--\": av_align -- -take2.mp4; a file called - is "
    "./-\n";

[[noreturn]] void reject(const std::string& message) { throw CLI::ValidationError(message); }

/// The number in `text`, which must be nothing but a decimal number from `low` to `high`; `range`
/// says so in words. Does not depend on the locale.
template <typename Number>
Number parse_number(const char* option, const std::string& text, Number low, Number high,
                    const char* range) {
  Number value{};
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  const bool is_number = error == std::errc() && stop == end;
  if (is_number && value >= low && value <= high) return value;  // false for NaN
  reject(std::string(option) + ": a number " + range + " is needed, not \"" + text + "\"");
}

/// CLI11 takes a positional "[a,b]" apart into a and b. A mark at the front keeps it from that.
constexpr char kMark = '\x01';

/// The arguments without the name of the program, last one first, as CLI11 wants them.
std::vector<std::string> wrapped(int argc, char** argv) {
  std::vector<std::string> arguments;
  for (int i = argc - 1; i > 0; --i) {
    const std::string text = argv[i];
    const bool needs_mark = text.starts_with('[') || text.starts_with(kMark);
    arguments.push_back(needs_mark ? kMark + text : text);
  }
  return arguments;
}

std::string unwrapped(const std::string& text) {
  return text.starts_with(kMark) ? text.substr(1) : text;
}

/// Adds an option whose text is handed to `take` at once; the option may be given once only.
void add(CLI::App& app, const std::string& names, const std::string& value_name,
         const std::string& help, const std::function<void(const std::string&)>& take) {
  const auto take_unwrapped = [take](const std::string& text) { take(unwrapped(text)); };
  app.add_option_function<std::string>(names, take_unwrapped, help)
      ->type_name(value_name)
      ->multi_option_policy(CLI::MultiOptionPolicy::Throw);
}

void add_inputs(CLI::App& app, CommandLine& line) {
  const auto take = [&line](const CLI::results_t& names) {
    for (const std::string& name : names) line.inputs.push_back(unwrapped(name));
    return true;
  };
  app.add_option("INPUT", take, "The media file, or those of a batch; one alone may be - for stdin")
      ->type_name("")
      ->expected(0, CLI::detail::expected_max_vector_size)
      ->allow_extra_args();
}

constexpr double kLongestFileS = 1e6;  // eleven days
constexpr double kShortestPartS = 1e-3;

void add_analysis_options(CLI::App& app, CommandLine& line) {
  av_fusion::AlignerOptions& options = line.aligner;
  add(app, "--tolerance", "NAME",
      "Judge the offset: itu-r-bt1359, itu-r-bt1359-acceptability, "
      "ebu-r37, atsc-is191, or EARLY,LATE in ms (45,-125)",
      [&line, &options](const std::string& text) {
        line.tolerance = options.tolerance = av_fusion::parse_tolerance(text);
      });
  add(app, "--max-offset", "MS", "Search range each way (default 1000)",
      [&options](const std::string& text) {
        options.max_offset = MediaDuration::from_ms(
            parse_number<double>("--max-offset", text, 100, 10000, "from 100 to 10000 (ms)"));
      });
  add(app, "--window", "S", "Length of one stretch of the timeline (default 4)",
      [&options](const std::string& text) {
        options.window = MediaDuration::from_seconds(
            parse_number<double>("--window", text, 0.2, 600, "from 0.2 to 600 (s)"));
      });
  add(app, "--hop", "S", "Time between stretches of the timeline (default 1)",
      [&options](const std::string& text) {
        options.hop = MediaDuration::from_seconds(
            parse_number<double>("--hop", text, 0.04, 600, "from 0.04 to 600 (s)"));
      });
  add(app, "--start", "S", "Begin so long after the first picture or sound",
      [&options](const std::string& text) {
        options.start = MediaDuration::from_seconds(
            parse_number<double>("--start", text, 0, kLongestFileS, "from 0 to 1000000 (s)"));
      });
  add(app, "--duration", "S", "Analyse so much", [&options](const std::string& text) {
    options.duration = MediaDuration::from_seconds(parse_number<double>(
        "--duration", text, kShortestPartS, kLongestFileS, "from 0.001 to 1000000 (s)"));
  });
  app.add_flag("--fast", options.fast,
               "Analyse parts of 12 s spread over a file of two minutes or more, at least four, "
               "else at most an eighth of it, until the offset is sure and the tolerance decided");
}

void add_stream_options(CLI::App& app, CommandLine& line) {
  av_fusion::AlignerOptions& options = line.aligner;
  add(app, "--audio-stream", "N", "Stream number of the sound, as --list-streams prints it",
      [&options](const std::string& text) {
        options.audio_stream = parse_number<int>("--audio-stream", text, 0, 9999, "from 0 to 9999");
      });
  add(app, "--video-stream", "N", "Stream number of the picture, as --list-streams prints it",
      [&options](const std::string& text) {
        options.video_stream = parse_number<int>("--video-stream", text, 0, 9999, "from 0 to 9999");
      });
  add(app, "--audio-channel", "CHANNEL",
      "What of the sound to listen to: auto (default: downmix, unless another part clearly holds "
      "the speech), downmix, difference (of two channels), or one channel by name (FC) or number "
      "from 0",
      [&options](const std::string& text) {
        options.audio_channel = av_fusion::AudioChannel::parse(text);
      });
  app.add_flag_callback(
      "--list-streams", [&line] { line.task = CommandLine::Task::kListStreams; },
      "Print the streams of the file and stop; with --report they are written there as JSON");
}

void add_program_options(CLI::App& app, CommandLine& line) {
  av_fusion::AlignerOptions& options = line.aligner;
  add(app, "--model", "FILE", "Weights of the network (default: those that came with av_fusion)",
      [&options](const std::string& text) { options.model = text; });
  add(app, "--face-model", "FILE", "dlib's predictor of 68 points (default: where systems put it)",
      [&options](const std::string& text) { options.face_model = text; });
  add(app, "--threads", "N", "Threads to use (default 1)", [&options](const std::string& text) {
    options.threads = parse_number<int>("--threads", text, 1, 256, "from 1 to 256");
  });
  app.add_flag("--quiet", line.quiet, "Print nothing but errors and the report asked for");
  app.add_flag("--profile", line.profile, "Print on stderr where the time went");
  app.add_flag_callback(
      "--version", [&line] { line.task = CommandLine::Task::kVersion; },
      "Print the versions of program, libraries and model, and stop");
}

void add_batch_options(CLI::App& app, CommandLine& line) {
  add(app, "--list", "FILE",
      "More INPUTs: one name a line, UTF-8, from the current folder on; empty lines and lines that "
      "begin with # do not count; - reads the list from stdin",
      [&line](const std::string& text) { line.list = text; });
  add(app, "--jsonl", "FILE",
      "For a batch: one line of JSON a file, in the order of completion; - writes to stdout",
      [&line](const std::string& text) { line.jsonl = text; });
  add(app, "--jobs", "N", "Files of a batch at a time (default 1)",
      [&line](const std::string& text) {
        line.jobs = parse_number<int>("--jobs", text, 1, 64, "from 1 to 64");
      });
  app.add_flag("--retry-failed", line.retry_failed,
               "Do files again whose line in --jsonl FILE is an error");
}

void need_name(const char* option, const std::optional<std::string>& name) {
  if (name && name->empty()) reject(std::string(option) + ": the name of a file or - is needed");
}

/// How the user made it a batch.
std::string batch_reason(const CommandLine& line) {
  if (line.inputs.size() > 1) return "several inputs (the second is \"" + line.inputs[1] + "\")";
  return line.list ? "--list" : "--jsonl";
}

void check_batch(const CommandLine& line) {
  const std::string reason = batch_reason(line);
  if (line.task == CommandLine::Task::kListStreams) reject("--list-streams: not with " + reason);
  if (line.report) reject("--report is for one input: --jsonl FILE goes with " + reason);
  if (line.profile) reject("--profile is for one input: not with " + reason);
  if (!line.jsonl) reject(reason + ": --jsonl FILE is needed as well, - for stdout");
  for (const std::string& input : line.inputs) {
    if (means_standard_input(input)) {
      reject("INPUT: - (stdin) cannot be in a batch; a file called - is ./-");
    }
  }
}

void check(const CommandLine& line) {
  if (line.task == CommandLine::Task::kVersion) return;
  const bool has_empty = std::find(line.inputs.begin(), line.inputs.end(), "") != line.inputs.end();
  if (has_empty || (line.inputs.empty() && !line.list)) {
    reject("INPUT: the name of a media file is needed");
  }
  need_name("--report", line.report);
  need_name("--jsonl", line.jsonl);
  need_name("--list", line.list);
  if (line.is_batch()) return check_batch(line);
  if (line.retry_failed) reject("--retry-failed: --jsonl FILE is needed as well");
}

int wrong_arguments(const std::string& message) {
  complain(message + "; see av_align --help");
  return kExitWrongArguments;
}

}  // namespace

std::variant<CommandLine, int> parse_command_line(int argc, char** argv) {
  CommandLine line;
  CLI::App app(kDescription, "av_align");
  app.footer(kFooter);
  app.set_help_flag("-h,--help", "Print this text and stop");
  add_inputs(app, line);
  add(app, "-o,--report", "FILE", "JSON report of one INPUT; - writes it to stdout",
      [&line](const std::string& text) { line.report = text; });
  add_analysis_options(app, line);
  add_stream_options(app, line);
  add_batch_options(app, line);
  add_program_options(app, line);
  try {
    app.parse(wrapped(argc, argv));
    check(line);
  } catch (const CLI::CallForHelp&) {
    std::fputs(app.help().c_str(), stdout);
    return 0;
  } catch (const CLI::ParseError& error) {
    return wrong_arguments(error.what());
  } catch (const av_fusion::Error& error) {
    return wrong_arguments(error.what());
  }
  return line;
}

}  // namespace av_align
