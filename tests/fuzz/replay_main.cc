// Copyright 2026 The av_fusion authors. SPDX-License-Identifier: Apache-2.0

// Runs a fuzz target over the files of the folders that are named on the command line, in the order
// of their names. Fails if a folder has none; the target itself ends the program on a finding.
#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace {

std::vector<std::filesystem::path> files_in(const char* folder) {
  std::vector<std::filesystem::path> files;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(folder, error)) {
    if (entry.is_regular_file()) files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  return files;
}

bool replay(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  const std::vector<char> bytes(std::istreambuf_iterator<char>(file), {});
  if (!file) return false;
  std::cout << path.string() << std::endl;  // the last line before an abort names the file
  // A copy of exactly the right size, so that a sanitizer sees a read beyond the end.
  const std::vector<std::uint8_t> input(bytes.begin(), bytes.end());
  LLVMFuzzerTestOneInput(input.data(), input.size());
  return true;
}

}  // namespace

int main(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) {
    const auto files = files_in(argv[i]);
    if (files.empty() || !std::all_of(files.begin(), files.end(), replay)) {
      std::cerr << argv[i] << ": there is no input, or it cannot be read\n";
      return 1;
    }
    std::cout << argv[i] << ": " << files.size() << " inputs\n";
  }
  if (argc < 2) std::cerr << "usage: " << argv[0] << " FOLDER ...\n";
  return argc < 2 ? 1 : 0;
}
