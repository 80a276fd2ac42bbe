# Copyright 2026 The av_fusion authors. SPDX-License-Identifier: Apache-2.0
"""Writes the golden vectors that the C++ model is tested against.

    python make_golden.py --output ../../tests/model/data

For each configuration below: `<name>_aligner.safetensors`, a model file with seeded random
weights, and `<name>_golden.safetensors`, inputs and what model.py makes of them in f64 with the
weights as they are stored. Every row is valid: the C++ side knows no other.

Tensors of a golden file: crops U8 [T, h, w], lips [T, G], video_tokens [T, D]; mel [S, M],
audio_tokens [S, D]; and for each case <i> of the fusion of those tokens: fuse.<i>.first_key and
fuse.<i>.width I64 [1], fuse.<i>.lag_logits [T, L], fuse.<i>.head_weights [T, H, L],
fuse.<i>.speaking_logits [T].
"""

import argparse
import pathlib

import torch

from export import export_model, load_exported, save_tensors
from model import AlignerNet, Config, pool_crops

CALIBRATION = {"evidence_scale": 0.75, "correlated_ticks": 40.0, "outlier_share": 0.02,
               "match_scale": 1.5, "match_bias": -0.25, "match_ticks": 120.0,
               "speaking_scale": 0.25, "speaking_head": 0.2, "speaking_bias": -0.4,
               "speaking_start": 0.1, "speaking_stop": 0.15}

# name: configuration, pictures, audio frames, (first key, width) of the fusions
CASES = {
    # More pictures than the C++ side convolves at once; bands inside, before and past the audio.
    "small": (Config(token_dim=32, num_heads=2, mouth_height=32, mouth_width=48, lip_features=5,
                     mel_bands=20, audio_per_video=4, mean_radius=5, stack_radius=1,
                     picture_pool=2, picture_channels=(4, 8, 16), lip_channels=8, temporal_kernel=5,
                     video_blocks=2, video_attention_width=4, audio_dilations=(1, 2),
                     audio_attention_width=8, feed_forward=48),
              75, 330, [(12, 10), (-30, 25), (200, 6)]),
    # Shorter than its own receptive field, with everything that can be left out left out.
    "tiny": (Config(token_dim=6, num_heads=1, mouth_height=8, mouth_width=12, lip_features=1,
                    mel_bands=3, audio_per_video=3, mean_radius=0, stack_radius=0,
                    picture_pool=1, picture_channels=(3, 2), lip_channels=1, temporal_kernel=3,
                    video_blocks=0, video_attention_width=1, audio_dilations=(),
                    audio_attention_width=2, feed_forward=5),
             2, 4, [(0, 0), (1, 3), (900, 2)]),
    "full": (Config(), 90, 420, [(40, 100), (-10, 50)]),
}


def random_net(config, seed):
    """Weights as after some training: nothing is zero, one or a default."""
    torch.manual_seed(seed)
    net = AlignerNet(config).eval()
    with torch.no_grad():
        for norm in [m for m in net.modules() if isinstance(m, (torch.nn.LayerNorm,
                                                                torch.nn.BatchNorm2d))]:
            norm.weight.copy_(0.5 + torch.rand_like(norm.weight))
            norm.bias.normal_(0, 0.3)
        for norm in net.video.norms:
            norm.running_mean.normal_(0, 0.2)
            norm.running_var.copy_(0.2 + torch.rand_like(norm.running_var))
        net.video.lip_mean.normal_(0.3, 0.1)
        net.video.lip_scale.copy_(2 + 8 * torch.rand_like(net.video.lip_scale))
        net.audio.mel_mean.normal_(-6, 1)
        net.audio.mel_scale.copy_(0.2 + 0.3 * torch.rand_like(net.audio.mel_scale))
    return net


def random_inputs(config, ticks, frames):
    """Smooth moving pictures with noise, lips and log-mel of about the right size."""
    c = config
    y = torch.linspace(0, 3, c.mouth_height)[None, :, None]
    x = torch.linspace(0, 4, c.mouth_width)[None, None, :]
    t = torch.arange(ticks)[:, None, None]
    picture = 120 + 60 * torch.sin(y * (1 + 0.3 * torch.sin(t / 2.1)) + x) + 20 * torch.sin(t / 9.0)
    crops = (picture + 10 * torch.randn(ticks, c.mouth_height, c.mouth_width)).clamp(0, 255)
    lips = 0.3 + 0.1 * torch.randn(ticks, c.lip_features)
    mel = -6 + 2.5 * torch.randn(frames, c.mel_bands)
    return crops.to(torch.uint8), lips, mel


@torch.no_grad()
def golden(net, ticks, frames, fusions):
    """Inputs and outputs of `net`, which is turned to f64."""
    net = net.double()
    crops, lips, mel = random_inputs(net.config, ticks, frames)
    valid = torch.ones(1, ticks, dtype=torch.bool)
    pooled = pool_crops(crops[None].double() / 255, net.config.picture_pool)
    video = net.video(pooled, lips[None].double(), valid)
    audio = net.audio(mel[None].double())
    tensors = {"crops": crops, "lips": lips, "mel": mel, "video_tokens": video[0],
               "audio_tokens": audio[0]}
    # The C++ fusion starts from stored f32 tokens, so this one does, too.
    video, audio = video.float().double(), audio.float().double()
    for i, (first_key, width) in enumerate(fusions):
        logits, weights, speaking = net.fuse(video, audio, torch.tensor([first_key]), width)
        tensors |= {f"fuse.{i}.first_key": torch.tensor([first_key]),
                    f"fuse.{i}.width": torch.tensor([width]),
                    f"fuse.{i}.lag_logits": logits[0].sum(1),
                    f"fuse.{i}.head_weights": weights[0],
                    f"fuse.{i}.speaking_logits": speaking[0]}
    return {k: (v.float() if v.is_floating_point() else v).contiguous()
            for k, v in tensors.items()}


def main():
    parser = argparse.ArgumentParser(description="Writes golden vectors for the C++ tests.")
    parser.add_argument("--output", required=True, type=pathlib.Path)
    parser.add_argument("--cases", nargs="+", choices=sorted(CASES), default=["small", "tiny"])
    args = parser.parse_args()
    args.output.mkdir(parents=True, exist_ok=True)
    for name in args.cases:
        config, ticks, frames, fusions = CASES[name]
        path = args.output / f"{name}_aligner.safetensors"
        export_model(random_net(config, seed=7), path, name=f"{name} random weights",
                     calibration=CALIBRATION, licence="Apache-2.0",
                     training_data="none, random weights")
        tensors = golden(load_exported(path), ticks, frames, fusions)
        save_tensors(tensors, args.output / f"{name}_golden.safetensors")


if __name__ == "__main__":
    main()
