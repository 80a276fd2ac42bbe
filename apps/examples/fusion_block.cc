// Copyright 2026 The av_fusion authors. SPDX-License-Identifier: Apache-2.0
#include <av_fusion/nn/load_blocks.h>

#include <cstdio>

namespace av = av_fusion;

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  // The module's state dict under "model.", and tokens to fuse.
  const av::WeightsFile file = av::WeightsFile::open(argv[1]);
  const av::StateDict model = av::StateDict(file).sub("model.");
  const av::CrossAttentionFusion fusion(av::load_cross_attention_fusion(model, /*num_heads=*/4));
  model.expect_all_taken();  // refuses weights that this block does not know

  const av::Tensor<float> video = file.tensor("video");  // [2, 9, 16]
  const av::Tensor<float> audio = file.tensor("audio");  // [2, 30, 12]
  av::Tensor<float> fused(video.shape());
  const std::int64_t audio_lengths[] = {30, 13};  // the rest of the second clip is padding
  av::ExecContext context;
  fusion.forward(context, video.view(), audio.view(), fused.view(), {.key_lengths = audio_lengths});

  std::printf("%d layers, fused %s\n", static_cast<int>(fusion.num_layers()),
              fused.shape().to_string().c_str());
  for (int clip = 0; clip < 2; ++clip) {
    std::printf("clip %d ends with %.3f\n", clip, static_cast<double>(fused.view()(clip, 8, 15)));
  }
}
