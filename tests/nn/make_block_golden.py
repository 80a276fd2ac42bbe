# Copyright 2026 The av_fusion authors. SPDX-License-Identifier: Apache-2.0
"""Writes data/*.safetensors: state dicts of the modules of blocks.py and what they compute.

Usage: python make_block_golden.py   (needs torch and safetensors; the results depend on torch's
random numbers, so a new torch version writes new files, which must pass the same tests)

The state dict is under "model."; inputs and results, computed in f64, have the names below. Steps
beyond a length are left out of the comparison by the test.
"""

import pathlib

import torch
from safetensors.torch import save_file

from blocks import ConvTransformerEncoder, CrossAttentionFusion

DATA = pathlib.Path(__file__).parent / "data"


def randomise(module):
    """PyTorch starts biases of attention at zero and norms at one; tests need them to matter."""
    with torch.no_grad():
        for name, parameter in module.named_parameters():
            if parameter.dim() == 1:
                parameter.normal_(std=0.5)
                if name.endswith("norm.weight"):
                    parameter.add_(1.0)
    return module


def save(name, module, tensors):
    tensors.update({f"model.{key}": value for key, value in module.state_dict().items()})
    save_file({key: value.detach().float().contiguous() for key, value in tensors.items()},
              DATA / f"{name}.safetensors")


def write_encoder(name, batch, steps, lengths, dim, **options):
    module = randomise(ConvTransformerEncoder(dim, **options))
    x = torch.randn(batch, steps, dim)
    out = module.double()(x.double(), lengths)
    save(name, module, {"in": x, "out": out})


def write_fusion(name, batch, video_steps, audio_steps, audio_lengths, band, **options):
    module = randomise(CrossAttentionFusion(**options))
    video = torch.randn(batch, video_steps, options["dim"])
    audio = torch.randn(batch, audio_steps, options["audio_width"])
    fused, weights = module.double()(video.double(), audio.double(), audio_lengths, band)
    assert not fused.isnan().any(), "a step sees nothing"
    tensors = {"video": video, "audio": audio, "fused": fused}
    tensors.update({f"weights.{i}": layer for i, layer in enumerate(weights)})
    save(name, module, tensors)


def main():
    torch.manual_seed(20260102)
    # Lengths, dilations, heads, widths and bands are repeated in block_golden_test.cc.
    write_encoder("encoder", batch=2, steps=29, lengths=[29, 17], dim=16, heads=2, hidden=24,
                  kernel=3, dilations=(1, 3), attention_width=4)
    write_encoder("encoder_whole", batch=1, steps=13, lengths=None, dim=12, heads=3, hidden=20)
    # The widths of the two modalities differ: q_proj_weight and so on.
    write_fusion("fusion_3_layers", batch=2, video_steps=9, audio_steps=30,
                 audio_lengths=[30, 13], band=None, dim=16, heads=4, hidden=24, num_layers=3,
                 audio_width=12)
    # The widths agree: in_proj_weight.
    write_fusion("fusion_band", batch=2, video_steps=9, audio_steps=30, audio_lengths=[30, 22],
                 band=(3, 2, 5), dim=16, heads=4, hidden=24, num_layers=1, audio_width=16,
                 key_norm=False)


if __name__ == "__main__":
    main()
