// Copyright 2026 The av_fusion authors. SPDX-License-Identifier: Apache-2.0
#include "tests/apps/media_folder.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>
#include <iterator>

#include "tests/apps/program.h"

namespace av_fusion::test {

MediaFolder::MediaFolder() {
  const ::testing::TestInfo* info = ::testing::UnitTest::GetInstance()->current_test_info();
  path_ = std::filesystem::path(::testing::TempDir()) /
          ("av_fusion_" + std::string(info->name()) + "_" + std::to_string(getpid()));
  std::filesystem::create_directories(path_);
}

MediaFolder::~MediaFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

std::string MediaFolder::write(std::string_view name, std::string_view content) const {
  std::ofstream(path_ / name, std::ios::binary) << content;
  return file(name);
}

std::string MediaFolder::make(std::string_view name,
                              const std::vector<std::string>& arguments) const {
  std::vector<std::string> command{"ffmpeg", "-v", "error", "-nostdin", "-y"};
  command.insert(command.end(), arguments.begin(), arguments.end());
  command.push_back("file:" + file(name));
  const ProgramResult result = run_program(command);
  EXPECT_EQ(result.exit_code, 0) << "ffmpeg cannot make " << name << ": " << result.err;
  return file(name);
}

bool has_ffmpeg() {
  static const bool kFound = run_program({"ffmpeg", "-version"}).exit_code == 0;
  return kFound;
}

std::string read_file(const std::filesystem::path& path) {
  std::ifstream stream(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()};
}

}  // namespace av_fusion::test
