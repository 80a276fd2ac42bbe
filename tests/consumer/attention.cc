// Copyright 2026 The av_fusion authors. SPDX-License-Identifier: Apache-2.0
// Two clips of 100 video frames ask 100 audio frames through 4 heads; with equal keys every weight
// is the same, so the answer is the mean of the values.
#include <av_fusion/nn/multi_head_attention.h>

#include <cmath>
#include <cstdio>
#include <utility>

using av_fusion::ExecContext, av_fusion::MultiHeadAttention, av_fusion::Tensor;

Tensor<float> identity(std::int64_t size) {
  Tensor<float> matrix({size, size});
  for (std::int64_t i = 0; i < size; ++i) matrix.view()(i, i) = 1;
  return matrix;
}

int main() {
  MultiHeadAttention::Params params;
  params.num_heads = 4;
  params.query_weight = identity(64);
  params.key_weight = Tensor<float>({64, 64});
  params.value_weight = identity(64);
  params.out_weight = identity(64);
  const MultiHeadAttention attention(std::move(params));

  Tensor<float> video({2, 100, 64}), audio({2, 100, 64}), fused({2, 100, 64});
  for (std::int64_t t = 0; t < 100; ++t) audio.view()(1, t, 5) = static_cast<float>(t);
  ExecContext context;
  attention.forward(context, video.view(), audio.view(), audio.view(), fused.view());
  const float mean = fused.view()(1, 17, 5);
  std::printf("%.3f\n", static_cast<double>(mean));
  return std::abs(mean - 49.5f) < 1e-3f ? 0 : 1;
}
