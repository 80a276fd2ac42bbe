# Copyright 2026 The av_fusion authors. SPDX-License-Identifier: Apache-2.0
"""Writes data/attention.safetensors, the weights of the examples, and what the examples must print.

Usage: python make_examples.py   (needs torch and safetensors; the results depend on torch's random
numbers, so a new torch version writes new files, which must pass the same tests)

PyTorch computes everything, in f64, from the weights as they are stored. The fusion block has its
weights and tokens in ../nn/data/fusion_3_layers.safetensors.
"""

import pathlib
import sys

import torch
from safetensors.torch import load_file, save_file
from torch import nn

HERE = pathlib.Path(__file__).parent
sys.path.insert(0, str(HERE.parent / "nn"))
from blocks import CrossAttentionFusion, valid_steps  # noqa: E402

DATA = HERE / "data"
DIM, HEADS = 64, 4


def number(value):
    """Three decimals; refuses what rounding errors of f32 could print in another way."""
    thousandths = float(value) * 1000
    assert abs(thousandths - round(thousandths)) < 0.45, f"{value} is on the edge, change the seed"
    assert abs(thousandths) > 1, f"{value} shows nothing, change the seed"
    return f"{float(value):.3f}"


def highest(row):
    """The place and the value of the maximum, which must stand out."""
    values, places = row.topk(2)
    assert values[0] - values[1] > 2e-3, "two places are nearly the same, change the seed"
    return f"{int(places[0])} most: {number(values[0])}"


def features(frames, rate):
    """The function of this name in the examples."""
    count = torch.arange(2 * frames * DIM, dtype=torch.float64)
    return torch.sin(rate * count * count).float().double().reshape(2, frames, DIM)


def make_attention():
    """Sharper than PyTorch's start, so that the heads differ."""
    attention = nn.MultiheadAttention(DIM, HEADS, batch_first=True)
    attention.in_proj_weight[:2 * DIM] *= 2
    attention.in_proj_bias.normal_(std=0.5)
    attention.out_proj.bias.normal_(std=0.5)
    return attention.half()


def self_attention(attention):
    frames = features(100, 0.001)
    out, weights = attention(frames, frames, frames, average_attn_weights=False)
    lines = [f"out {list(out.shape)}, starts with {number(out[0, 0, 0])}"]
    lines += [f"head {h} watches frame {highest(weights[0, h, 0])}" for h in range(HEADS)]
    return lines


def cross_attention(attention):
    video = features(100, 0.001)
    audio = features(400, 0.0003)
    lag = torch.arange(100)[:, None] * 4 - torch.arange(400)[None, :]
    seen = valid_steps(audio, [400, 205])[:, None, :] & (lag.abs() <= 50)
    seen = seen | ~seen.any(-1, keepdim=True)  # PyTorch gives NaN for a frame that sees nothing
    fused, weights = attention(video, audio, audio, average_attn_weights=False,
                               attn_mask=~seen.repeat_interleave(HEADS, 0))
    lines = [f"head {h} looks at audio frame {highest(weights[1, h, 50])}" for h in range(HEADS)]
    return lines + [f"fused: {number(fused[1, 50, 0])}"]


def fusion_block():
    tensors = load_file(HERE.parent / "nn/data/fusion_3_layers.safetensors")
    fusion = CrossAttentionFusion(dim=16, heads=4, hidden=24, num_layers=3, audio_width=12)
    fusion.load_state_dict({name.removeprefix("model."): tensor for name, tensor in tensors.items()
                            if name.startswith("model.")})
    fused, _ = fusion.double()(tensors["video"].double(), tensors["audio"].double(), [30, 13])
    lines = [f"{len(fusion.layers)} layers, fused {list(fused.shape)}"]
    return lines + [f"clip {c} ends with {number(fused[c, 8, 15])}" for c in range(2)]


def main():
    torch.manual_seed(20260103)
    torch.set_grad_enabled(False)
    attention = make_attention()
    save_file(attention.state_dict(), DATA / "attention.safetensors")
    attention = attention.double()
    outputs = {"self_attention": self_attention(attention),
               "cross_attention": cross_attention(attention),
               "fusion_block": fusion_block()}
    for name, lines in outputs.items():
        (DATA / f"{name}.txt").write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
