// Copyright 2026 The av_fusion authors. SPDX-License-Identifier: Apache-2.0
// Counts the memory of tensors, so it is a program of its own.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <memory>
#include <new>

#include "av_fusion/features/mouth_track_extractor.h"
#include "fake_faces.h"

namespace {

std::atomic<std::int64_t> live_bytes = 0;
constexpr std::size_t kHeader = 64;

}  // namespace

// Tensors, and nothing else here, ask for memory aligned to 64 bytes.
void* operator new(std::size_t size, std::align_val_t alignment) {
  const auto align = std::max(static_cast<std::size_t>(alignment), kHeader);
  const std::size_t total = (size + kHeader + align - 1) / align * align;
  auto* memory = static_cast<unsigned char*>(std::aligned_alloc(align, total));
  if (memory == nullptr) throw std::bad_alloc();
  *reinterpret_cast<std::size_t*>(memory) = size;
  live_bytes += static_cast<std::int64_t>(size);
  return memory + kHeader;
}
void operator delete(void* data, std::align_val_t) noexcept {
  if (data == nullptr) return;
  auto* memory = static_cast<unsigned char*>(data) - kHeader;
  live_bytes -= static_cast<std::int64_t>(*reinterpret_cast<std::size_t*>(memory));
  std::free(memory);
}
void operator delete(void* data, std::size_t, std::align_val_t alignment) noexcept {
  operator delete(data, alignment);
}

namespace av_fusion {
namespace {

TEST(BoundedState, TheExtractorHoldsAtMostTenPictures) {
  constexpr int kRows = 480, kColumns = 640;
  auto world = std::make_shared<testing::FakeWorld>();
  MouthTrackExtractor extractor(std::make_unique<testing::FakeDetector>(world),
                                std::make_shared<testing::FakeLandmarker>(world));
  const std::int64_t before = live_bytes;
  std::int64_t most = 0;
  for (int i = 0; i < 600; ++i) {
    std::vector<testing::FakeFace> faces = {{100, 90, 40}, {300, 90, 40}};
    if (i % 50 < 10) faces.clear();
    VideoFrame frame = world->add({i * 16'667}, std::move(faces), kRows, kColumns);
    extractor.push(std::move(frame));
    extractor.take_ready();
    most = std::max(most, live_bytes - before);
  }
  EXPECT_GE(most, 7 * kRows * kColumns);
  EXPECT_LE(most, 10 * kRows * kColumns);
}

}  // namespace
}  // namespace av_fusion
