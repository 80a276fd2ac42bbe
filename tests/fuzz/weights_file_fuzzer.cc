// Copyright 2026 The av_fusion authors. SPDX-License-Identifier: Apache-2.0

// A weights file is not trusted: whatever its bytes are, reading it gives tensors that agree with
// each other or an av_fusion::Error. Anything else ends the program: another exception, because
// nobody catches it, and a broken promise, by `require`.
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <set>
#include <span>
#include <string>

#include "av_fusion/core/error.h"
#include "av_fusion/nn/load_layers.h"
#include "av_fusion/nn/state_dict.h"
#include "av_fusion/nn/weights_file.h"

namespace av_fusion {
namespace {

void require(bool promise, const char* what) {
  if (promise) return;
  std::fprintf(stderr, "broken promise: %s\n", what);
  std::abort();
}

/// Runs `call`; whether it did not throw an Error.
template <typename Call>
bool succeeds(Call&& call) {
  try {
    call();
    return true;
  } catch (const Error& error) {
    require(error.what()[0] != '\0', "an error says something");
    return false;
  }
}

/// Reads all memory of the tensor.
template <typename T>
void check_tensor(const Tensor<T>& tensor, const Shape& shape) {
  require(tensor.view().shape() == shape, "a tensor has the shape that was announced");
  std::int64_t count = 0;
  for (const T& element : tensor.elements()) count += element == element ? 1 : 0;
  require(count <= tensor.num_elements(), "elements can be counted");
}

void read_tensors(const WeightsFile& file) {
  for (const std::string& name : file.names()) {
    require(file.contains(name), "what is named is there");
    const Shape& shape = file.shape(name);
    succeeds([&] { check_tensor(file.tensor(name), shape); });
    succeeds([&] { check_tensor(file.tensor_u8(name), shape); });
    succeeds([&] { check_tensor(file.tensor_i64(name), shape); });
  }
}

void check_taken(const Tensor<float>& tensor) {
  for (const float value : tensor.elements()) require(std::isfinite(value), "taken is finite");
}

void take_tensors(const WeightsFile& file) {
  const StateDict weights(file);
  bool all = true;
  for (const std::string& name : file.names()) {
    all &= succeeds([&] { check_taken(weights.take(name, file.shape(name))); });
  }
  require(succeeds([&] { weights.expect_all_taken(); }) == all, "what was taken is remembered");
}

/// Where layers may be: before the first part of a name and after every dot.
std::set<std::string> prefixes(const WeightsFile& file) {
  constexpr std::size_t kMost = 8;
  std::set<std::string> result = {""};
  for (const std::string& name : file.names()) {
    for (std::size_t at = 0; (at = name.find('.', at)) != std::string::npos;) {
      if (result.size() < kMost)
        result.insert(name.substr(0, ++at));
      else
        return result;
    }
  }
  return result;
}

void check_attention(const MultiHeadAttention::Params& params) {
  const std::int64_t dim = params.query_weight.dim(0);
  require(params.out_weight.shape() == Shape{dim, dim}, "the output projection is square");
  for (const auto* weight : {&params.query_weight, &params.key_weight, &params.value_weight}) {
    require(weight->shape().rank() == 2 && weight->dim(0) == dim, "projections make D numbers");
    check_taken(*weight);
  }
  for (const auto* bias :
       {&params.query_bias, &params.key_bias, &params.value_bias, &params.out_bias}) {
    require(bias->empty() || bias->shape() == Shape{dim}, "biases have D numbers");
    check_taken(*bias);
  }
}

void load_layers(const StateDict& weights) {
  succeeds([&] { check_attention(load_multi_head_attention(weights, 1)); });
  succeeds([&] { load_linear(weights); });
  succeeds([&] { load_layer_norm(weights); });
  succeeds([&] { load_conv1d(weights); });
  succeeds([&] { load_conv2d(weights); });
  succeeds([&] { weights.expect_all_taken(); });
}

void run(std::span<const std::uint8_t> bytes) {
  succeeds([&] {
    const WeightsFile file = WeightsFile::from_bytes(std::as_bytes(bytes), "input");
    read_tensors(file);
    take_tensors(file);
    for (const std::string& prefix : prefixes(file)) load_layers(StateDict(file).sub(prefix));
  });
}

}  // namespace
}  // namespace av_fusion

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  av_fusion::run({data, size});
  return 0;
}
