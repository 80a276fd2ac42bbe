// Copyright 2026 The av_fusion authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <bit>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "av_fusion/core/tensor.h"

namespace av_fusion {

/// Arrays written by make_golden.py. The file is a sequence of records: one text line
/// "name extent extent ...", then that many little-endian f32, row-major.
class GoldenFile {
 public:
  explicit GoldenFile(const std::string& name) {
    static_assert(std::endian::native == std::endian::little);
    std::ifstream file(std::string(AV_FUSION_TEST_DATA_DIR) + "/" + name, std::ios::binary);
    EXPECT_TRUE(file) << "no test data " << name;
    for (std::string line; std::getline(file, line);) {
      std::istringstream words(line);
      std::string key;
      words >> key;
      std::vector<std::int64_t> extents;
      for (std::int64_t extent = 0; words >> extent;) extents.push_back(extent);
      Tensor<float> data{Shape(std::span<const std::int64_t>(extents))};
      file.read(reinterpret_cast<char*>(data.data()),
                static_cast<std::streamsize>(data.elements().size_bytes()));
      EXPECT_TRUE(file) << name << " ends within " << key;
      arrays_.emplace(key, std::move(data));
    }
  }

  /// A copy of the array; fails the test and returns an empty one if there is none.
  Tensor<float> get(const std::string& key) const {
    const auto found = arrays_.find(key);
    if (found != arrays_.end()) return found->second.clone();
    ADD_FAILURE() << "no array " << key;
    return {};
  }
  /// The same, but an absent array is legal and empty.
  Tensor<float> find(const std::string& key) const {
    return arrays_.contains(key) ? get(key) : Tensor<float>();
  }
  std::vector<double> doubles(const std::string& key) const {
    const Tensor<float> array = get(key);
    return {array.elements().begin(), array.elements().end()};
  }

 private:
  std::map<std::string, Tensor<float>> arrays_;
};

}  // namespace av_fusion
