// Copyright 2026 The av_fusion authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "av_fusion/core/tensor.h"
#include "av_fusion/model/private/tensor_source.h"
#include "av_fusion/nn/activation.h"
#include "av_fusion/nn/conv1d.h"
#include "av_fusion/nn/layer_norm.h"
#include "av_fusion/nn/linear.h"
#include "av_fusion/nn/multi_head_attention.h"

// The parts that the encoders and the fusion are built from; apps/train_aligner/model.py defines
// them. `prefix` is where a part's tensors are in the model file, "video.blocks.0." for example.
namespace av_fusion {

/// The layer `prefix`weight, `prefix`bias.
Linear make_linear(TensorSource& source, const std::string& prefix, std::int64_t out_features,
                   std::int64_t in_features, Activation activation = Activation::kNone);
LayerNorm make_layer_norm(TensorSource& source, const std::string& prefix, std::int64_t dim);
/// Convolution over time that keeps the length.
Conv1d make_conv1d(TensorSource& source, const std::string& prefix, std::int64_t out_channels,
                   std::int64_t in_channels, std::int64_t kernel, std::int64_t dilation,
                   Activation activation);
/// Attention with the layers `prefix`query, key, value and out.
MultiHeadAttention make_attention(TensorSource& source, const std::string& prefix, std::int64_t dim,
                                  std::int64_t num_heads);

/// The same elements in another shape; `view` must be dense.
template <typename T>
TensorView<T> reshaped(TensorView<T> view, const Shape& shape) {
  return {view.data(), shape};
}

/// `sum` += `term`, both dense and of one shape.
void add_to(TensorView<float> sum, TensorView<const float> term);

/// Buffers that blocks of one width share while they run on [T, D].
struct BlockScratch {
  BlockScratch(std::int64_t steps, std::int64_t dim, std::int64_t hidden_dim)
      : first({steps, dim}), second({steps, dim}), hidden({steps, hidden_dim}) {}

  Tensor<float> first;
  Tensor<float> second;
  Tensor<float> hidden;
};

/// x += Linear(gelu(Conv(LN(x)))).
class TemporalBlock {
 public:
  TemporalBlock(TensorSource& source, const std::string& prefix, std::int64_t dim,
                std::int64_t kernel, std::int64_t dilation);

  /// `x` [T, D] dense, changed in place.
  void forward(ExecContext& context, TensorView<float> x, BlockScratch& scratch) const;

 private:
  LayerNorm norm_;
  Conv1d conv_;
  Linear linear_;
};

/// x += Linear(gelu(Linear(LN(x)))).
class FeedForward {
 public:
  FeedForward(TensorSource& source, const std::string& prefix, std::int64_t dim,
              std::int64_t hidden);

  /// `x` [T, D] dense, changed in place.
  void forward(ExecContext& context, TensorView<float> x, BlockScratch& scratch) const;

 private:
  LayerNorm norm_;
  Linear up_;
  Linear down_;
};

/// x += SelfAttention(LN(x)) where a step sees `width` steps on either side; then the feed-forward
/// block.
class AttentionBlock {
 public:
  AttentionBlock(TensorSource& source, const std::string& prefix, std::int64_t dim,
                 std::int64_t num_heads, std::int64_t width, std::int64_t hidden);

  /// `x` [T, D] dense, changed in place.
  void forward(ExecContext& context, TensorView<float> x, BlockScratch& scratch) const;

 private:
  LayerNorm norm_;
  MultiHeadAttention attention_;
  std::int64_t width_;
  FeedForward feed_forward_;
};

}  // namespace av_fusion
