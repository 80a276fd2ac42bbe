// Copyright 2026 The av_fusion authors. SPDX-License-Identifier: Apache-2.0
// av_align: measures how well lips and speech line up in a video file. See --help.
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <optional>
#include <string>
#include <system_error>
#include <utility>
#include <variant>
#ifdef __GLIBC__  // known by now
#include <malloc.h>
#endif

#include "av_fusion/aligner.h"
#include "av_fusion/core/error.h"
#include "av_fusion/describe_streams.h"
#include "av_fusion/media/ffmpeg_log.h"
#include "av_fusion/media/media_reader.h"
#include "av_fusion/report/json_report.h"
#include "av_fusion/report/stream_list_json.h"
#include "av_fusion/report/summary.h"
#include "batch.h"
#include "command_line.h"
#include "complain.h"
#include "exit_code.h"
#include "profile_table.h"
#include "progress_line.h"
#include "report_file.h"
#include "run_report.h"
#include "standard_input.h"
#include "stream_list.h"

namespace av_align {
namespace {

using av_fusion::Aligner;
using av_fusion::AlignmentRun;
using av_fusion::Error;
using av_fusion::ErrorCode;
using av_fusion::MediaSource;

/// Where the report goes decides where the sentence may go.
void answer(const CommandLine& line, const std::optional<ReportFile>& file, const Aligner& aligner,
            const AlignmentRun& run) {
  const std::string sentence = av_fusion::summarize(run.alignment) + "\n";
  if (file) {
    file->write_pieces([&](const ReportFile::Write& write) {
      av_fusion::write_json(run.alignment,
                            report_context(line.input(), line.tolerance, aligner, run), write);
    });
    if (line.quiet) return;
    if (file->is_stdout()) {
      std::fputs(sentence.c_str(), stderr);
    } else {
      write_to_stdout(sentence);
    }
  } else if (!line.quiet) {
    write_to_stdout(sentence + av_fusion::explain(run.alignment, line.tolerance));
  }
}

void set_up_talk(CommandLine& line, ProgressLine& progress) {
  if (line.quiet) return;
  line.aligner.log = [&progress](av_fusion::LogLevel level, std::string_view text) {
    if (level != av_fusion::LogLevel::kWarning) return;
    progress.clear();
    complain("note: " + std::string(text));
  };
  if (!progress.is_shown()) return;
  line.aligner.progress = [&progress](const av_fusion::AlignProgress& state) {
    progress.show(state);
    return true;
  };
}

/// A failure with the exit code that says whose fault it is. Any other `Error` is due to the
/// arguments (or the installation).
struct Failure {
  int exit_code;
  std::string message;
};

/// An input that exists but lacks what was asked for (a stream) is a wrong argument.
[[noreturn]] void fail_on_input(const Error& error, const std::string& input) {
  std::error_code ignored;
  const bool input_exists = means_standard_input(input) || std::filesystem::exists(input, ignored);
  const bool is_argument = error.code() == ErrorCode::kInvalidArgument ||
                           (error.code() == ErrorCode::kNotFound && input_exists);
  throw Failure{is_argument ? kExitWrongArguments : kExitUnreadableInput, error.what()};
}

/// To be called before other files are opened, one of which would become a stdin that is closed.
MediaSource source_of(const std::string& input) {
  try {
    return means_standard_input(input) ? standard_input() : MediaSource::from_path(input);
  } catch (const Error& error) {
    fail_on_input(error, input);
  }
}

AlignmentRun measure(const Aligner& aligner, const MediaSource& source, const std::string& input) {
  try {
    return aligner.align(source);
  } catch (const Error& error) {
    fail_on_input(error, input);
  }
}

int align(CommandLine line) {
  std::optional<ReportFile> file;
  if (line.report) file.emplace(*line.report, line.input());
  const MediaSource source = source_of(line.input());
  ProgressLine progress;
  set_up_talk(line, progress);
  const Aligner aligner(line.aligner);
  const AlignmentRun run = measure(aligner, source, line.input());
  progress.clear();
  answer(line, file, aligner, run);
  if (line.profile) std::fputs(profile_table(run.performance).c_str(), stderr);
  return exit_code(run.alignment, line.tolerance);
}

av_fusion::MediaInfo inspect(const CommandLine& line) {
  av_fusion::MediaReader::Options options;
  options.video_stream = line.aligner.video_stream;
  options.audio_stream = line.aligner.audio_stream;
  options.audio_channel = line.aligner.audio_channel;
  const MediaSource source = source_of(line.input());
  try {
    return av_fusion::MediaReader(source, options).info();
  } catch (const Error& error) {
    fail_on_input(error, line.input());
  }
}

int list_streams(const CommandLine& line) {
  std::optional<ReportFile> file;
  if (line.report) file.emplace(*line.report, line.input());
  const av_fusion::MediaInfo info = inspect(line);
  if (file) {
    file->write(av_fusion::to_json(av_fusion::describe_streams(info, line.input())));
  } else {
    write_to_stdout(stream_list(info));
  }
  return kExitMeasured;
}

int print_version(const CommandLine& line) {
  const av_fusion::ToolDescription tool = Aligner::libraries();
  write_to_stdout("av_align " + tool.version + "\noneDNN " + tool.onednn + "\nFFmpeg " +
                  tool.ffmpeg + "\nOpenCV " + tool.opencv + "\n");
  const Aligner aligner(line.aligner);
  const av_fusion::ModelDescription& model = *aligner.tool().model;
  write_to_stdout("model " + model.name + ", sha256 " + model.sha256 + "\n  licence: " +
                  model.licence + "\n  training data: " + model.training_data + "\n");
  return kExitMeasured;
}

int run(const CommandLine& line) {
  switch (line.task) {
    case CommandLine::Task::kListStreams: return list_streams(line);
    case CommandLine::Task::kVersion: return print_version(line);
    case CommandLine::Task::kAlign: break;
  }
  return line.is_batch() ? run_batch(line) : align(line);
}

/// Pictures and tensors come and go by the thousand. Left alone, glibc keeps ever larger ones in
/// its heap once one was freed, where they leave holes; if all of them came from the system each
/// time, a sixth of the time would go into clearing pages. oneDNN keeps compiled kernels of the
/// last 1024 shapes; some thirty new ones, 10 MB, come with each new length of a face's track. Both
/// are settings of the process, so not the library's.
void keep_memory_flat() {
  if (std::getenv("DNNL_PRIMITIVE_CACHE_CAPACITY") == nullptr) {
    setenv("ONEDNN_PRIMITIVE_CACHE_CAPACITY", "64", /*overwrite=*/0);
  }
#ifdef __GLIBC__
  constexpr int kMiB = 1024 * 1024;
  mallopt(M_MMAP_THRESHOLD, kMiB / 4);
  mallopt(M_TRIM_THRESHOLD, 64 * kMiB);
#endif
}

int main(int argc, char** argv) {
  keep_memory_flat();
  av_fusion::set_ffmpeg_log_sink({});
  const auto parsed = parse_command_line(argc, argv);
  if (const int* code = std::get_if<int>(&parsed)) return *code;
  const CommandLine& line = std::get<CommandLine>(parsed);
  try {
    return run(line);
  } catch (const Failure& failure) {
    complain(failure.message);
    return failure.exit_code;
  } catch (const Error& error) {
    complain(error.what());
    return kExitWrongArguments;
  } catch (const std::exception& error) {
    const bool is_about_input = line.inputs.size() == 1 && !line.is_batch();
    complain(is_about_input ? line.input() + ": " + error.what() : error.what());
    return line.is_batch() ? kExitWrongArguments : kExitUnreadableInput;
  }
}

}  // namespace
}  // namespace av_align

int main(int argc, char** argv) { return av_align::main(argc, argv); }
