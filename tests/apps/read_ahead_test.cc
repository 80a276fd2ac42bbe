// Copyright 2026 The av_fusion authors. SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <functional>
#include <iterator>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "av_fusion/aligner.h"
#include "av_fusion/core/error.h"
#include "av_fusion/spsc_queue_internal.h"
#include "tests/apps/media_folder.h"

namespace av_fusion {
namespace {

const std::string kSample = AV_FUSION_ASSETS_DIR "/samples/talking_face.mp4";

// ---- The queue

TEST(SpscQueue, KeepsOrderAndLosesNothing) {
  constexpr int kItems = 50'000;
  SpscQueue<std::unique_ptr<int>, 4> queue;
  std::jthread producer([&] {
    for (int i = 0; i < kItems; ++i) EXPECT_TRUE(queue.push(std::make_unique<int>(i)));
  });
  for (int i = 0; i < kItems; ++i) {
    const std::unique_ptr<int> item = queue.pop();
    ASSERT_TRUE(item);
    ASSERT_EQ(*item, i);
  }
}

TEST(SpscQueue, HoldsNoMoreThanItsCapacity) {
  SpscQueue<int, 2> queue;
  std::atomic<int> pushed = 0;
  std::jthread producer([&] {
    while (queue.push(0)) ++pushed;
  });
  std::this_thread::sleep_for(std::chrono::milliseconds(30));
  EXPECT_EQ(pushed, 2);
  queue.pop();
  std::this_thread::sleep_for(std::chrono::milliseconds(30));
  EXPECT_EQ(pushed, 3);
  queue.close();  // wakes the producer, which ends
}

TEST(SpscQueue, RefusesItemsOnceClosed) {
  SpscQueue<int, 2> queue;
  EXPECT_TRUE(queue.push(1));
  queue.close();
  EXPECT_FALSE(queue.push(2));
}

// ---- A run that reads on a thread of its own

AlignerOptions with_threads(int threads, double seconds = 3) {
  AlignerOptions options;
  options.threads = threads;
  options.duration = MediaDuration::from_seconds(seconds);
  return options;
}

void expect_same(const AlignmentRun& a, const AlignmentRun& b) {
  ASSERT_TRUE(a.alignment.offset && b.alignment.offset);
  EXPECT_EQ(a.alignment.offset->ms, b.alignment.offset->ms);
  EXPECT_EQ(a.alignment.offset->confidence, b.alignment.offset->confidence);
  EXPECT_EQ(a.speech, b.speech);
  EXPECT_EQ(a.input.duration_s, b.input.duration_s);
  ASSERT_EQ(a.alignment.timeline.size(), b.alignment.timeline.size());
  for (std::size_t i = 0; i < a.alignment.timeline.size(); ++i) {
    EXPECT_EQ(a.alignment.timeline[i].t, b.alignment.timeline[i].t);
    EXPECT_EQ(a.alignment.timeline[i].offset.ms, b.alignment.timeline[i].offset.ms);
  }
}

TEST(ReadAhead, ChangesNoNumber) {
  const AlignmentRun alone = Aligner(with_threads(1, 60)).align(MediaSource::from_path(kSample));
  for (const int threads : {2, 3, 4}) {
    const AlignmentRun run =
        Aligner(with_threads(threads, 60)).align(MediaSource::from_path(kSample));
    expect_same(run, alone);
    EXPECT_EQ(run.performance.threads, threads);
  }
}

/// The bytes of a file; calls `before_read` with the place of each read, as a share of all.
MediaSource watched(const std::string& path, std::function<void(double)> before_read) {
  std::ifstream file(path, std::ios::binary);
  const auto bytes = std::make_shared<const std::vector<char>>(std::istreambuf_iterator<char>(file),
                                                               std::istreambuf_iterator<char>());
  const auto at = std::make_shared<std::size_t>(0);
  return MediaSource::from_callback(
      [=](std::span<std::byte> buffer) {
        before_read(static_cast<double>(*at) / static_cast<double>(bytes->size()));
        const std::size_t count = std::min(buffer.size(), bytes->size() - *at);
        std::memcpy(buffer.data(), bytes->data() + *at, count);
        *at += count;
        return count;
      },
      [=](std::int64_t offset) { *at = static_cast<std::size_t>(offset); },
      static_cast<std::int64_t>(bytes->size()));
}

TEST(ReadAhead, AFailureOfTheSourceArrives) {
  if (!test::has_ffmpeg()) GTEST_SKIP() << "the ffmpeg program is not there";
  const test::MediaFolder folder;
  // So long that opening it does not read it to the end.
  const std::string file = folder.make(
      "long.mkv", {"-stream_loop", "6", "-i", kSample, "-c:v", "copy", "-c:a", "pcm_s16le"});
  const auto failing = watched(file, [](double at) {
    if (at > 0.8) throw Error(ErrorCode::kIo, "cable", "it was pulled");
  });
  for (const int threads : {1, 2, 3}) {
    try {
      Aligner(with_threads(threads, 600)).align(failing);
      ADD_FAILURE() << threads;
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::kIo);
      EXPECT_NE(std::string(error.what()).find("cable"), std::string::npos) << error.what();
    }
  }
}

TEST(ReadAhead, CallbacksOfTheHostStayOnItsThread) {
  const test::MediaFolder folder;
  // The down-mix of opposite channels is silent, which is worth a remark.
  std::set<std::thread::id> threads;
  int remarks = 0;
  AlignerOptions options = with_threads(3);
  options.log = [&](LogLevel, std::string_view) {
    threads.insert(std::this_thread::get_id());
    ++remarks;
  };
  options.progress = [&](const AlignProgress&) {
    threads.insert(std::this_thread::get_id());
    return true;
  };
  if (!test::has_ffmpeg()) GTEST_SKIP() << "the ffmpeg program is not there";
  const std::string file = folder.make(
      "antiphase.mkv",
      {"-i", kSample, "-c:v", "copy", "-af", "pan=stereo|c0=c0|c1=-1*c0", "-c:a", "pcm_s16le"});
  const AlignmentRun run = Aligner(options).align(MediaSource::from_path(file));
  EXPECT_GT(remarks, 0);
  EXPECT_EQ(threads, (std::set{std::this_thread::get_id()}));
}

TEST(ReadAhead, StopsWhenTheHostCancels) {
  for (const int threads : {2, 3}) {
    AlignerOptions options = with_threads(threads, 600);
    options.progress = [](const AlignProgress& state) { return state.position.seconds() < 0.5; };
    const AlignmentRun run = Aligner(options).align(MediaSource::from_path(kSample));
    EXPECT_TRUE(run.cancelled);
  }
}

}  // namespace
}  // namespace av_fusion
