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
  const av::WeightsFile file = av::WeightsFile::open(argv[1]);
  const av::MultiHeadAttention attention(
      av::load_multi_head_attention(av::StateDict(file), /*num_heads=*/4));

  const av::Tensor<float> video = features(100, 0.001), audio = features(400, 0.0003);
  const std::int64_t audio_lengths[] = {400, 205};  // the rest of the second clip is padding
  av::MultiHeadAttention::Masks masks;
  masks.key_lengths = audio_lengths;
  masks.band = av::BandMask{.stride = 4, .offset = 0, .width = 50};  // audio frames 4 i +- 50
  av::Tensor<float> fused({2, 100, 64}), weights({2, 4, 100, 400});
  av::ExecContext context;
  attention.forward(context, video.view(), audio.view(), audio.view(), fused.view(), masks,
                    {.weights = weights.view()});

  for (int head = 0; head < 4; ++head) {
    const float* row = &weights.view()(1, head, 50, 0);  // clip 1, video frame 50
    const float* most = std::max_element(row, row + 400);
    std::printf("head %d looks at audio frame %d most: %.3f\n", head, static_cast<int>(most - row),
                static_cast<double>(*most));
  }
  std::printf("fused: %.3f\n", static_cast<double>(fused.view()(1, 50, 0)));
}
