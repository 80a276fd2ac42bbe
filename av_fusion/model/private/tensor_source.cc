// Copyright 2026 The av_fusion authors. SPDX-License-Identifier: Apache-2.0
#include "av_fusion/model/private/tensor_source.h"

#include <algorithm>
#include <cmath>

#include "av_fusion/core/error.h"
#include "av_fusion/model/private/in_quotes.h"

namespace av_fusion {

Tensor<float> TensorSource::take(const std::string& name, const Shape& shape) {
  const std::string place = file_.name() + ": tensor " + in_quotes(name);
  expect_shape(file_.shape(name), shape, place);
  Tensor<float> tensor = file_.tensor(name);
  const auto values = tensor.elements();
  if (!std::all_of(values.begin(), values.end(), [](float v) { return std::isfinite(v); })) {
    throw Error(ErrorCode::kCorruptData, place, "a value is not finite");
  }
  taken_.insert(name);
  return tensor;
}

void TensorSource::expect_all_taken() const {
  constexpr int kMaxNamed = 5;
  std::string unknown;
  int count = 0;
  for (const std::string& name : file_.names()) {
    if (taken_.contains(name)) continue;
    if (++count <= kMaxNamed) unknown += (count > 1 ? ", " : "") + in_quotes(name);
  }
  if (count > kMaxNamed) unknown += " and " + std::to_string(count - kMaxNamed) + " more";
  if (count > 0) {
    throw Error(ErrorCode::kCorruptData, file_.name(),
                "the model has tensors that this build does not know: " + unknown);
  }
}

}  // namespace av_fusion
