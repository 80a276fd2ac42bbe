// Copyright 2026 The av_fusion authors. SPDX-License-Identifier: Apache-2.0
#include <av_fusion/nn/load_layers.h>

#include <algorithm>
#include <cmath>
#include <cstdio>

namespace av = av_fusion;

// Your features come here: 2 clips, a row for each frame, 64 columns.
av::Tensor<float> features(std::int64_t frames, double rate) {
  av::Tensor<float> rows({2, frames, 64});
  for (double i = 0; float& x : rows.elements()) {
    x = static_cast<float>(std::sin(rate * i * i));
    ++i;
  }
  return rows;
}

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  // safetensors.torch.save_file(torch.nn.MultiheadAttention(64, 4).state_dict(), path)
  const av::WeightsFile file = av::WeightsFile::open(argv[1]);
  const av::MultiHeadAttention attention(
      av::load_multi_head_attention(av::StateDict(file), /*num_heads=*/4));

  const av::Tensor<float> frames = features(100, 0.001);
  av::Tensor<float> out({2, 100, 64}), weights({2, 4, 100, 100});
  av::ExecContext context;  // one for each thread
  attention.forward(context, frames.view(), out.view(), {}, {.weights = weights.view()});

  std::printf("out %s, starts with %.3f\n", out.shape().to_string().c_str(),
              static_cast<double>(out.view()(0, 0, 0)));
  for (int head = 0; head < 4; ++head) {
    const float* row = &weights.view()(0, head, 0, 0);  // clip 0, frame 0
    const float* most = std::max_element(row, row + 100);
    std::printf("head %d watches frame %d most: %.3f\n", head, static_cast<int>(most - row),
                static_cast<double>(*most));
  }
}
