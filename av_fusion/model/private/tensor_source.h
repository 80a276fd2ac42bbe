// Copyright 2026 The av_fusion authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <set>
#include <string>

#include "av_fusion/core/tensor.h"
#include "av_fusion/model/weights_file.h"

namespace av_fusion {

/// Hands out the tensors of a model file and remembers which were asked for, so that a file with
/// tensors that this build does not know is refused rather than half used. Keeps a reference to
/// the file.
class TensorSource {
 public:
  explicit TensorSource(const WeightsFile& file) : file_(file) {}

  /// Throws `Error` naming file and tensor: `kNotFound` if there is none, `kShapeMismatch` if its
  /// shape is not `shape`, `kCorruptData` if a value is not finite.
  Tensor<float> take(const std::string& name, const Shape& shape);

  /// Throws `Error(kCorruptData)` naming the tensors that nobody took.
  void expect_all_taken() const;

 private:
  const WeightsFile& file_;
  std::set<std::string, std::less<>> taken_;
};

}  // namespace av_fusion
