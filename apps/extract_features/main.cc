// Copyright 2026 The av_fusion authors. SPDX-License-Identifier: Apache-2.0
// extract_features: mouth crops, lip geometry and log-mel frames of talking-face clips, in files
// for training. See clip_features.h for what the files hold.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "av_fusion/core/error.h"
#include "av_fusion/features/face_landmarker.h"
#include "av_fusion/media/ffmpeg_log.h"
#include "clip_features.h"
#include "clip_list.h"

namespace {

namespace fs = std::filesystem;

struct Options {
  std::string list;
  std::vector<std::string> inputs;
  std::string root;
  std::string output;
  std::string face_model;
  std::string only;
  int jobs = 1;
  bool resume = false;
};

struct FolderSum {
  long clips = 0, written = 0, ticks = 0, ticks_with_face = 0;
};

// What all threads have done so far.
class Progress {
 public:
  explicit Progress(std::size_t clips) : clips_(clips) {}

  void add(const std::string& name, const std::string& state, const ClipReport& report) {
    const std::lock_guard lock(mutex_);
    std::printf("%s\t%s\t%.2f\t%ld\t%ld\t%ld\t%ld\n", state.c_str(), name.c_str(),
                report.duration_s, report.ticks, report.ticks_with_face, report.tracks,
                report.main_track_ticks);
    std::fflush(stdout);
    FolderSum& folder = folders_[fs::path(name).parent_path().string()];
    ++folder.clips;
    folder.written += report.written ? 1 : 0;
    folder.ticks += report.ticks;
    folder.ticks_with_face += report.ticks_with_face;
    seconds_ += report.duration_s;
    ++done_;
    if (done_ % 20 == 0 || done_ == clips_) {
      std::fprintf(stderr, "%zu of %zu clips, %.1f x real time\n", done_, clips_,
                   seconds_ / elapsed());
    }
  }

  void skip() {
    const std::lock_guard lock(mutex_);
    ++done_;
    ++skipped_;
  }

  void print_summary() const {
    std::printf("# folder\tclips\twritten\tticks\tticks with a face\n");
    for (const auto& [name, sum] : folders_) {
      std::printf("# %s\t%ld\t%ld\t%ld\t%.2f%%\n", name.c_str(), sum.clips, sum.written, sum.ticks,
                  sum.ticks > 0 ? 100.0 * double(sum.ticks_with_face) / double(sum.ticks) : 0.0);
    }
    std::printf("# %zu clips, %zu were there before; %.1f s of pictures in %.1f s\n", done_,
                skipped_, seconds_, elapsed());
  }

 private:
  double elapsed() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin_).count();
  }

  std::mutex mutex_;
  std::size_t clips_, done_ = 0, skipped_ = 0;
  double seconds_ = 0;
  std::map<std::string, FolderSum> folders_;
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
};

std::string output_name(std::string clip) {
  for (std::size_t at = 0; (at = clip.find('/', at)) != std::string::npos; at += 2) {
    clip.replace(at, 1, "__");
  }
  return clip + ".safetensors";
}

void process(const std::string& clip, const Options& options,
             const std::shared_ptr<const av_fusion::FaceLandmarker>& landmarker,
             Progress& progress) {
  const fs::path output = fs::path(options.output) / output_name(clip);
  if (options.resume && fs::exists(output)) return progress.skip();
  ClipReport report;
  std::string state;
  try {
    report = extract_clip(fs::path(options.root) / clip, clip, landmarker, output);
    state = report.written ? "ok" : report.reason;
  } catch (const std::exception& error) {
    state = std::string("failed: ") + error.what();
  }
  progress.add(clip, state, report);
}

std::vector<std::string> collect_clips(const Options& options) {
  std::vector<std::string> clips = options.inputs;
  if (!options.list.empty()) {
    const std::vector<std::string> listed = read_clip_list(options.list);
    clips.insert(clips.end(), listed.begin(), listed.end());
  }
  std::erase_if(
      clips, [&](const std::string& clip) { return clip.find(options.only) == std::string::npos; });
  return clips;
}

int run(const Options& options) {
  const std::vector<std::string> clips = collect_clips(options);
  fs::create_directories(options.output);
  av_fusion::set_ffmpeg_log_sink({});  // what matters reaches us as a status or an error
  const auto landmarker = av_fusion::make_dlib_face_landmarker(options.face_model);
  Progress progress(clips.size());
  std::atomic<std::size_t> next = 0;
  std::vector<std::jthread> workers;
  for (int i = 0; i < options.jobs; ++i) {
    workers.emplace_back([&] {
      for (std::size_t at; (at = next++) < clips.size();) {
        process(clips[at], options, landmarker, progress);
      }
    });
  }
  workers.clear();
  progress.print_summary();
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("Features of talking-face clips, for training");
  Options options;
  app.add_option("inputs", options.inputs, "Clips, relative to --root");
  app.add_option("--list", options.list, "Tab-separated file with a column \"clip\"");
  app.add_option("--root", options.root, "Folder that the clips are relative to");
  app.add_option("--output", options.output, "Folder for the feature files")->required();
  app.add_option("--face-model", options.face_model, "dlib's landmark model");
  app.add_option("--only", options.only, "Only clips whose path contains this text");
  app.add_option("--jobs", options.jobs, "Clips in parallel")->check(CLI::Range(1, 256));
  app.add_flag("--resume", options.resume, "Leave out clips whose file is there");
  CLI11_PARSE(app, argc, argv);
  try {
    return run(options);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "extract_features: %s\n", error.what());
    return 4;
  }
}
