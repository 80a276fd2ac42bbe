// Copyright 2026 The av_fusion authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <random>
#include <vector>

#include "av_fusion/core/tensor.h"
#include "av_fusion/nn/activation.h"
#include "av_fusion/nn/band_mask.h"
#include "av_fusion/nn/multi_head_attention.h"

// What the layers have to compute, as plain loops in double precision. Written from the formulas,
// without a look at the library's code.
namespace av_fusion::reference {

using Index = std::int64_t;

/// Normally distributed numbers; the same for the same seed.
inline Tensor<float> random(const Shape& shape, unsigned seed, float scale = 1.0f) {
  std::mt19937 engine(seed);
  std::normal_distribution<float> normal(0.0f, scale);
  Tensor<float> result(shape);
  for (float& x : result.elements()) x = normal(engine);
  return result;
}

/// A kernel [out, in, ...] that keeps the variance of its input.
inline Tensor<float> random_kernel(const Shape& shape, unsigned seed) {
  const auto fan_in = static_cast<float>(shape.num_elements() / shape[0]);
  return random(shape, seed, 1.0f / std::sqrt(fan_in));
}
inline Tensor<float> random_weight(Index out, Index in, unsigned seed) {
  return random_kernel({out, in}, seed);
}

inline double activate(double x, Activation activation) {
  switch (activation) {
    case Activation::kNone: return x;
    case Activation::kRelu: return std::max(x, 0.0);
    case Activation::kGelu: return 0.5 * x * (1.0 + std::erf(x / std::sqrt(2.0)));
  }
  return x;
}

/// `in` is [N, in_features] of any leading shape; `bias` may be empty.
inline std::vector<double> linear(const std::vector<double>& in, const Tensor<float>& weight,
                                  const Tensor<float>& bias,
                                  Activation activation = Activation::kNone) {
  const Index width = weight.dim(1);
  const Index rows = static_cast<Index>(in.size()) / width;
  std::vector<double> out;
  for (Index n = 0; n < rows; ++n) {
    for (Index o = 0; o < weight.dim(0); ++o) {
      double sum = bias.empty() ? 0.0 : static_cast<double>(bias.view()(o));
      for (Index i = 0; i < width; ++i) {
        sum +=
            in[static_cast<std::size_t>(n * width + i)] * static_cast<double>(weight.view()(o, i));
      }
      out.push_back(activate(sum, activation));
    }
  }
  return out;
}

inline std::vector<double> to_doubles(const Tensor<float>& tensor) {
  return {tensor.elements().begin(), tensor.elements().end()};
}

inline std::vector<double> layer_norm(const Tensor<float>& in, const Tensor<float>& scale,
                                      const Tensor<float>& shift, double epsilon) {
  std::vector<double> out;
  for (Index n = 0; n < in.dim(0); ++n) {
    const Index width = in.dim(1);
    double mean = 0.0;
    for (Index i = 0; i < width; ++i) mean += static_cast<double>(in.view()(n, i));
    mean /= static_cast<double>(width);
    double variance = 0.0;
    for (Index i = 0; i < width; ++i) {
      variance += std::pow(static_cast<double>(in.view()(n, i)) - mean, 2.0);
    }
    variance /= static_cast<double>(width);
    for (Index i = 0; i < width; ++i) {
      out.push_back((static_cast<double>(in.view()(n, i)) - mean) / std::sqrt(variance + epsilon) *
                        static_cast<double>(scale.view()(i)) +
                    static_cast<double>(shift.view()(i)));
    }
  }
  return out;
}

/// `in` [N, H, W, C], `weight` [O, C, kh, kw]; the result is [N, oh, ow, O]. A sequence is a
/// picture of one row: stride, dilation and padding are given for each axis.
struct ConvSteps {
  Index stride = 1;
  Index dilation = 1;
  Index padding = 0;
};
inline std::vector<double> conv2d(const Tensor<float>& in, const Tensor<float>& weight,
                                  const Tensor<float>& bias, ConvSteps down, ConvSteps across,
                                  Activation activation) {
  const Index kernel_h = weight.dim(2);
  const Index kernel_w = weight.dim(3);
  const Index out_h =
      (in.dim(1) + 2 * down.padding - down.dilation * (kernel_h - 1) - 1) / down.stride + 1;
  const Index out_w =
      (in.dim(2) + 2 * across.padding - across.dilation * (kernel_w - 1) - 1) / across.stride + 1;
  std::vector<double> out;
  for (Index n = 0; n < in.dim(0); ++n) {
    for (Index y = 0; y < out_h; ++y) {
      for (Index x = 0; x < out_w; ++x) {
        for (Index o = 0; o < weight.dim(0); ++o) {
          double sum = bias.empty() ? 0.0 : static_cast<double>(bias.view()(o));
          for (Index j = 0; j < kernel_h; ++j) {
            for (Index i = 0; i < kernel_w; ++i) {
              const Index from_y = y * down.stride + j * down.dilation - down.padding;
              const Index from_x = x * across.stride + i * across.dilation - across.padding;
              if (from_y < 0 || from_y >= in.dim(1) || from_x < 0 || from_x >= in.dim(2)) continue;
              for (Index c = 0; c < in.dim(3); ++c) {
                sum += static_cast<double>(in.view()(n, from_y, from_x, c)) *
                       static_cast<double>(weight.view()(o, c, j, i));
              }
            }
          }
          out.push_back(activate(sum, activation));
        }
      }
    }
  }
  return out;
}

struct Attention {
  std::vector<double> out;      // [B, Tq, D]
  std::vector<double> weights;  // [B, H, Tq, Tk]
  std::vector<double> scores;   // [B, H, Tq, Tk], all of them, masked or not, without additive
  std::vector<bool> visible;    // [B, Tq, Tk], by everything but the additive mask
};

inline bool sees(const MultiHeadAttention::Masks& masks, Index b, Index i, Index j) {
  if (!masks.key_lengths.empty() && j >= masks.key_lengths[static_cast<std::size_t>(b)]) {
    return false;
  }
  if (masks.causal && j > i * masks.causal->stride + masks.causal->offset) return false;
  if (!masks.band) return true;
  return std::abs(i * masks.band->stride + masks.band->offset - j) <= masks.band->width;
}

/// What the additive mask adds to a score.
inline double additive_at(const MultiHeadAttention::Masks& masks, Index b, Index head, Index i,
                          Index j) {
  const TensorView<const float>& mask = masks.additive;
  if (mask.data() == nullptr) return 0.0;
  if (mask.rank() == 2) return static_cast<double>(mask(i, j));
  return static_cast<double>(mask.rank() == 3 ? mask(b, i, j) : mask(b, head, i, j));
}

/// Softmax over the visible entries of one row; all zero if there is none.
inline std::vector<double> masked_softmax(const std::vector<double>& scores,
                                          const std::vector<bool>& visible) {
  double largest = -std::numeric_limits<double>::infinity();
  for (std::size_t j = 0; j < scores.size(); ++j) {
    if (visible[j]) largest = std::max(largest, scores[j]);
  }
  std::vector<double> weights(scores.size(), 0.0);
  double sum = 0.0;
  for (std::size_t j = 0; j < scores.size(); ++j) {
    if (visible[j]) sum += weights[j] = std::exp(scores[j] - largest);
  }
  for (double& weight : weights) weight = sum > 0.0 ? weight / sum : 0.0;
  return weights;
}

inline Attention attention(const MultiHeadAttention::Params& params, const Tensor<float>& query,
                           const Tensor<float>& key, const Tensor<float>& value,
                           const MultiHeadAttention::Masks& masks = {}) {
  const Index batch = query.dim(0);
  const Index queries = query.dim(1);
  const Index keys = key.dim(1);
  const Index dim = params.query_weight.dim(0);
  const Index heads = params.num_heads;
  const Index width = dim / heads;
  const auto q = linear(to_doubles(query), params.query_weight, params.query_bias);
  const auto k = linear(to_doubles(key), params.key_weight, params.key_bias);
  const auto v = linear(to_doubles(value), params.value_weight, params.value_bias);
  const auto at = [&](Index row, Index head, Index i) {
    return static_cast<std::size_t>(row * dim + head * width + i);
  };
  Attention result;
  std::vector<double> concatenated(static_cast<std::size_t>(batch * queries * dim), 0.0);
  for (Index b = 0; b < batch; ++b) {
    for (Index head = 0; head < heads; ++head) {
      for (Index i = 0; i < queries; ++i) {
        std::vector<double> scores;
        std::vector<double> masked;
        std::vector<bool> visible;
        std::vector<bool> finite;
        for (Index j = 0; j < keys; ++j) {
          double dot = 0.0;
          for (Index c = 0; c < width; ++c) {
            dot += q[at(b * queries + i, head, c)] * k[at(b * keys + j, head, c)];
          }
          scores.push_back(dot / std::sqrt(static_cast<double>(width)));
          visible.push_back(sees(masks, b, i, j));
          const double added = additive_at(masks, b, head, i, j);
          masked.push_back(scores.back() + added);
          finite.push_back(visible.back() && std::isfinite(added));
        }
        const std::vector<double> weights = masked_softmax(masked, finite);
        for (Index j = 0; j < keys; ++j) {
          for (Index c = 0; c < width; ++c) {
            concatenated[at(b * queries + i, head, c)] +=
                weights[static_cast<std::size_t>(j)] * v[at(b * keys + j, head, c)];
          }
        }
        result.weights.insert(result.weights.end(), weights.begin(), weights.end());
        result.scores.insert(result.scores.end(), scores.begin(), scores.end());
        if (head == 0) result.visible.insert(result.visible.end(), visible.begin(), visible.end());
      }
    }
  }
  result.out = linear(concatenated, params.out_weight, params.out_bias);
  return result;
}

/// The mean over heads [B, Tq, Tk] of `weights` with the shape [B, H, Tq, Tk].
inline std::vector<double> mean_of_heads(const std::vector<double>& weights, const Shape& shape) {
  const auto plane = static_cast<std::size_t>(shape[2] * shape[3]);
  const auto heads = static_cast<std::size_t>(shape[1]);
  std::vector<double> mean(static_cast<std::size_t>(shape[0]) * plane, 0.0);
  for (std::size_t i = 0; i < weights.size(); ++i) {
    mean[i / (heads * plane) * plane + i % plane] += weights[i] / static_cast<double>(heads);
  }
  return mean;
}

/// The band layout [B, H, Tq, num_lags] of `full` [B, H, Tq, Tk]; 0 where a query sees no key.
inline std::vector<double> band_of(const std::vector<double>& full,
                                   const std::vector<bool>& visible, const Shape& shape,
                                   const BandMask& band) {
  std::vector<double> lags;
  for (Index b = 0; b < shape[0]; ++b) {
    for (Index head = 0; head < shape[1]; ++head) {
      for (Index i = 0; i < shape[2]; ++i) {
        for (Index lag = 0; lag < band.num_lags(); ++lag) {
          const Index j = i * band.stride + band.offset + lag - band.width;
          const bool exists = j >= 0 && j < shape[3] &&
                              visible[static_cast<std::size_t>((b * shape[2] + i) * shape[3] + j)];
          const Index from = ((b * shape[1] + head) * shape[2] + i) * shape[3] + j;
          lags.push_back(exists ? full[static_cast<std::size_t>(from)] : 0.0);
        }
      }
    }
  }
  return lags;
}

/// Every element within `tolerance` of the expected one (which NaN never is).
inline void expect_close(const Tensor<float>& actual, const std::vector<double>& expected,
                         double tolerance, const char* what) {
  ASSERT_EQ(actual.elements().size(), expected.size()) << what;
  double worst = 0.0;
  std::size_t where = 0;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    const double difference = std::abs(static_cast<double>(actual.elements()[i]) - expected[i]);
    if (!(difference <= worst)) {
      worst = difference;
      where = i;
      if (std::isnan(difference)) break;
    }
  }
  EXPECT_LE(worst, tolerance) << what << " at element " << where << " of "
                              << actual.shape().to_string() << ": got " << actual.elements()[where]
                              << ", expected " << expected[where];
}

}  // namespace av_fusion::reference
