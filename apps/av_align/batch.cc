// Copyright 2026 The av_fusion authors. SPDX-License-Identifier: Apache-2.0
#include "batch.h"

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <exception>
#include <mutex>
#include <optional>
#include <string>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "av_fusion/aligner.h"
#include "av_fusion/core/error.h"
#include "av_fusion/features/face_landmarker.h"
#include "av_fusion/report/json_report.h"
#include "batch_talk.h"
#include "batch_tally.h"
#include "exit_code.h"
#include "finished_inputs.h"
#include "input_list.h"
#include "jsonl_file.h"
#include "jsonl_record.h"
#include "run_report.h"
#include "stop_signal.h"

namespace av_align {
namespace {

using av_fusion::AlignmentRun;
using av_fusion::Error;
using av_fusion::ErrorCode;
using av_fusion::MediaSource;

/// What became of one file.
struct Outcome {
  int exit_code;
  std::string line;       // for the output
  std::string complaint;  // for a person; empty unless the file failed
};

Outcome failure(const std::string& input, ErrorCode code, const std::string& message) {
  const bool is_named = message.find(input) != message.npos;
  return {kExitUnreadableInput, failure_line(input, code, message),
          is_named ? message : input + ": " + message};
}

/// The files that are still to be done, and the threads that do them.
class Batch {
 public:
  /// The references must outlive the batch.
  Batch(const CommandLine& line, std::vector<std::string> inputs, JsonlFile& output,
        BatchTally& tally)
      : line_(line),
        inputs_(std::move(inputs)),
        output_(output),
        tally_(tally),
        talk_(line.quiet, inputs_.size()),
        aligner_(options()) {}

  /// Returns when all is done, or as soon as a signal asks to stop. Throws what makes it useless to
  /// go on.
  void run();

 private:
  av_fusion::AlignerOptions options();
  bool must_stop() const noexcept { return has_failed_ || stop_signal() != 0; }
  void work() noexcept;
  const std::string* next();
  std::optional<Outcome> measure(const std::string& input);
  void check_face_model();
  void deliver(const Outcome& outcome);
  void say_goodbye();

  const CommandLine& line_;
  const std::vector<std::string> inputs_;
  JsonlFile& output_;  // guarded by mutex_
  BatchTally& tally_;  // guarded by mutex_
  BatchTalk talk_;
  const av_fusion::Aligner aligner_;
  std::mutex mutex_;
  std::size_t num_begun_ = 0;   // guarded by mutex_
  std::exception_ptr failure_;  // of the whole; guarded by mutex_
  std::atomic<bool> has_failed_ = false;
  std::once_flag face_model_is_checked_;
};

av_fusion::AlignerOptions Batch::options() {
  av_fusion::AlignerOptions options = line_.aligner;
  options.progress = [this](const av_fusion::AlignProgress&) { return !must_stop(); };
  options.log = [this](av_fusion::LogLevel level, std::string_view text) {
    if (level == av_fusion::LogLevel::kWarning) talk_.note(std::string(text));
  };
  return options;
}

void Batch::run() {
  {
    std::vector<std::jthread> others;
    const std::size_t num_threads = std::min(inputs_.size(), static_cast<std::size_t>(line_.jobs));
    try {
      while (others.size() + 1 < num_threads) others.emplace_back([this] { work(); });
    } catch (const std::system_error&) {
      // The system has no more threads: with those that there are.
    }
    work();
  }
  if (failure_) std::rethrow_exception(failure_);
  say_goodbye();
}

void Batch::work() noexcept {
  try {
    while (const std::string* const input = next()) {
      if (const auto outcome = measure(*input)) deliver(*outcome);
    }
  } catch (...) {
    const std::lock_guard lock(mutex_);
    if (!failure_) failure_ = std::current_exception();
    has_failed_ = true;
  }
}

/// The next file, or null if there is none to begin with any more.
const std::string* Batch::next() {
  const std::lock_guard lock(mutex_);
  if (must_stop() || num_begun_ == inputs_.size()) return nullptr;
  const std::string& input = inputs_[num_begun_++];
  talk_.show(num_begun_, input);
  return &input;
}

/// Nothing if it was cancelled.
std::optional<Outcome> Batch::measure(const std::string& input) {
  try {
    const AlignmentRun run = aligner_.align(MediaSource::from_path(input));
    if (run.cancelled) return std::nullopt;
    const auto context = report_context(input, line_.tolerance, aligner_, run);
    return Outcome{exit_code(run.alignment, line_.tolerance),
                   av_fusion::to_json_line(run.alignment, context),
                   {}};
  } catch (const Error& error) {
    check_face_model();
    return failure(input, error.code(), error.what());
  } catch (const std::exception& error) {
    return failure(input, ErrorCode::kInternal, error.what());
  }
}

/// The first file that needs the face model loads it. If that fails it is not the file's fault, and
/// no other file would do better.
void Batch::check_face_model() {
  std::call_once(face_model_is_checked_, [this] {
    av_fusion::make_dlib_face_landmarker(line_.aligner.face_model.string());
  });
}

void Batch::deliver(const Outcome& outcome) {
  const std::lock_guard lock(mutex_);
  if (has_failed_) return;
  if (*line_.jsonl == "-") talk_.make_room();  // both may be on one terminal
  output_.append(outcome.line);
  tally_.add(outcome.exit_code);
  if (!outcome.complaint.empty()) talk_.complain(outcome.complaint);
}

void Batch::say_goodbye() {
  const std::size_t num_left = inputs_.size() - tally_.done();
  std::string text = tally_.summary();
  if (num_left > 0) text = "stopped: " + text + ", " + std::to_string(num_left) + " left";
  talk_.finish(text);
}

std::vector<std::string> all_inputs(const CommandLine& line) {
  std::vector<std::string> inputs = line.inputs;
  if (line.list) {
    for (std::string& name : read_input_list(*line.list)) inputs.push_back(std::move(name));
  }
  return without_repeats(std::move(inputs));
}

}  // namespace

int run_batch(const CommandLine& line) {
  std::vector<std::string> inputs = all_inputs(line);
  FinishedInputs finished;
  JsonlFile output(*line.jsonl, [&](std::string_view text) {
    const auto record = parse_record(text, line.tolerance);
    const bool is_to_do = record && line.retry_failed && record->exit_code == kExitUnreadableInput;
    if (record && !is_to_do) finished.add(*record);
    return record.has_value();
  });
  BatchTally tally;
  Batch batch(line, finished.take_pending(std::move(inputs), tally), output, tally);
  ignore_write_signals();
  catch_stop_signals();
  output.start();
  batch.run();
  return stop_signal() != 0 ? 128 + stop_signal() : tally.worst_exit_code();
}

}  // namespace av_align
