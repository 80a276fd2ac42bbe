// Copyright 2026 The av_fusion authors. SPDX-License-Identifier: Apache-2.0
#include "av_fusion/nn/state_dict.h"

#include <algorithm>
#include <cmath>

#include "av_fusion/core/error.h"
#include "av_fusion/core/in_quotes.h"

namespace av_fusion {

StateDict StateDict::sub(std::string_view prefix) const {
  StateDict result(*this);
  result.prefix_ += prefix;
  return result;
}

Tensor<float> StateDict::take(std::string_view name, const Shape& expected) const {
  const std::string full = full_name(name);
  expect_shape(file_->shape(full), expected, place(name));
  Tensor<float> tensor = file_->tensor(full);
  const auto values = tensor.elements();
  if (!std::all_of(values.begin(), values.end(), [](float v) { return std::isfinite(v); })) {
    throw Error(ErrorCode::kCorruptData, place(name), "a value is not finite");
  }
  taken_->insert(full);
  return tensor;
}

void StateDict::expect_all_taken() const {
  constexpr int kMaxNamed = 5;
  std::string unknown;
  int count = 0;
  for (const std::string& name : file_->names()) {
    if (!name.starts_with(prefix_) || taken_->contains(name)) continue;
    if (++count <= kMaxNamed) unknown += (count > 1 ? ", " : "") + in_quotes(name);
  }
  if (count > kMaxNamed) unknown += " and " + std::to_string(count - kMaxNamed) + " more";
  if (count > 0) {
    throw Error(ErrorCode::kCorruptData, file_->name(),
                "the file has tensors that this program does not know: " + unknown);
  }
}

std::string StateDict::place(std::string_view name) const {
  return file_->name() + ": tensor " + in_quotes(full_name(name));
}

}  // namespace av_fusion
