// Copyright 2026 The av_fusion authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <set>
#include <string>
#include <string_view>

#include "av_fusion/core/tensor.h"
#include "av_fusion/nn/weights_file.h"

namespace av_fusion {

/// The tensors of a `WeightsFile` whose names begin with a prefix, as a module of PyTorch sees its
/// own entries of a state dict. Remembers which tensors were taken, so that a file with tensors
/// that the program does not know can be refused rather than half used:
///
///     const WeightsFile file = WeightsFile::open("layer.safetensors");
///     const StateDict weights(file);
///     MultiHeadAttention attention(load_multi_head_attention(weights.sub("attention."), 8));
///     Linear head(load_linear(weights.sub("head.")));
///     weights.expect_all_taken();
///
/// Names given to the members come without the prefix; error messages have the file and the whole
/// name. Keeps a reference to the file. Copies and subs share one record of what was taken, so they
/// belong to one thread together.
class StateDict {
 public:
  explicit StateDict(const WeightsFile& file)
      : file_(&file), taken_(std::make_shared<std::set<std::string, std::less<>>>()) {}
  explicit StateDict(const WeightsFile&&) = delete;  // the file has to live on

  /// The tensors whose names go on with `prefix`, "layers.0." for example; mind the dot. There may
  /// be none.
  StateDict sub(std::string_view prefix) const;

  bool contains(std::string_view name) const { return file_->contains(full_name(name)); }

  /// Throws `Error(kNotFound)` if there is no such tensor.
  const Shape& shape(std::string_view name) const { return file_->shape(full_name(name)); }

  /// A tensor that is stored as F32, F16 or BF16; `expected` may have `kAny`. Throws `Error` naming
  /// file and tensor: `kNotFound` if there is none, `kShapeMismatch` if it has another shape,
  /// `kUnsupported` if it has another element type, `kCorruptData` if a value is not finite.
  /// A tensor may be taken more than once (weights that layers share).
  Tensor<float> take(std::string_view name, const Shape& expected) const;

  /// Throws `Error(kCorruptData)` naming the tensors under the prefix that nobody took.
  void expect_all_taken() const;

  const WeightsFile& file() const noexcept { return *file_; }
  /// `name` with the prefix, as it is in the file.
  std::string full_name(std::string_view name) const { return prefix_ + std::string(name); }
  /// `layer.safetensors: tensor "layers.0.weight"`, for the context of an `Error`.
  std::string place(std::string_view name) const;

 private:
  const WeightsFile* file_;
  std::string prefix_;
  std::shared_ptr<std::set<std::string, std::less<>>> taken_;  // full names
};

}  // namespace av_fusion
