# Copyright 2026 The av_fusion authors. SPDX-License-Identifier: Apache-2.0
"""Turns a training checkpoint into the model file that av_fusion reads.

    python export.py --checkpoint run/best.pt --output aligner.safetensors

The checkpoint is a dict of torch.save: "model" (the state dict of model.AlignerNet), "config" (the
fields of model.Config), "calibration" (the fields of CALIBRATION below) and whatever training
needs besides.

THE MODEL FILE (schema 1) is a safetensors file. Its metadata, all strings:

    format          "av_fusion/aligner-model"
    schema_version  "1"; raised when an older reader would misread the file
    name            name of the model, shown in reports
    config          JSON object, the fields of model.Config
    calibration     JSON object: evidence_scale, correlated_ticks, outlier_share, match_scale,
                    match_bias, match_ticks, speaking_scale, speaking_head, speaking_bias,
                    speaking_start, speaking_stop (av_fusion/model/aligner_model.h says what they mean)
    licence         of the weights
    training_data   one sentence for a person
    made_by         program that wrote the file

Its tensors are named as in PyTorch. Symbols: D token_dim, F feed_forward, K temporal_kernel, C_i
picture_channels (C_-1 = 2 * stack_radius + 1), h and w the mouth crop's size divided by
picture_pool and by 2^(number of picture_channels), G lip_features, M mel_bands, L lip_channels.

    video.convs.<i>.weight            [C_i, C_i-1, 3, 3]  batch norm <i> folded in
    video.convs.<i>.bias              [C_i]
    video.picture.weight, .bias       [D, h * w * C_last], [D]; input in the order h, w, C
    video.lip_mean, video.lip_scale   [G], [G]
    video.lips.weight, .bias          [L, 2 * G], [L]; as they are, then local mean removed
    video.join.weight, .bias          [D, D + L], [D]; picture, then lips
    video.blocks.<i>.*                a temporal block, i < video_blocks
    video.attention.*                 an attention block
    video.norm.weight, .bias          [D], [D]
    audio.mel_mean, audio.mel_scale   [M], [M]
    audio.stem.weight, .bias          [D, M, K], [D]
    audio.blocks.<i>.*                a temporal block, one for each of audio_dilations
    audio.attention.*                 an attention block
    audio.norm.weight, .bias          [D], [D]
    query, key, value, out            .weight [D, D], .bias [D]
    feed_forward.*                    a feed-forward block
    speaking_norm.weight, .bias       [D], [D]
    speaking.weight, .bias            [1, D], [1]

    a temporal block                  norm.weight, norm.bias [D]; conv.weight [D, D, K], conv.bias
                                      [D]; linear.weight [D, D], linear.bias [D]
    a feed-forward block              norm.weight, norm.bias [D]; up.weight [F, D], up.bias [F];
                                      down.weight [D, F], down.bias [D]
    an attention block                norm.weight, norm.bias [D]; attention.<x>.weight [D, D] and
                                      attention.<x>.bias [D] with <x> query, key, value, out;
                                      feed_forward.* as above

Tensors with two axes or more are F16 (rounded to nearest), the others F32. There are no others.
"""

import argparse
import dataclasses
import json
import math
import pathlib

import torch
from safetensors import safe_open
from safetensors.torch import save

from model import AlignerNet, Config

FORMAT = "av_fusion/aligner-model"
SCHEMA_VERSION = 1
CALIBRATION = ("evidence_scale", "correlated_ticks", "outlier_share",
               "match_scale", "match_bias", "match_ticks",
               "speaking_scale", "speaking_head", "speaking_bias", "speaking_start", "speaking_stop")
LICENCE = "Apache-2.0"


def make_config(fields):
    """model.Config from a dict in which lists stand for tuples."""
    return Config(**{k: tuple(v) if isinstance(v, list) else v for k, v in fields.items()})


def fold_batch_norms(net):
    """The state dict of `net` in f64, each batch norm folded into the convolution before it."""
    tensors = {k: v.detach().cpu().double() for k, v in net.state_dict().items()
               if not k.startswith("video.norms.")}
    for i, norm in enumerate(net.video.norms):
        mean, variance = norm.running_mean.cpu().double(), norm.running_var.cpu().double()
        gain = norm.weight.detach().cpu().double() / torch.sqrt(variance + norm.eps)
        tensors[f"video.convs.{i}.weight"] *= gain[:, None, None, None]
        tensors[f"video.convs.{i}.bias"] = norm.bias.detach().cpu().double() - mean * gain
    return tensors


def to_storage(name, tensor):
    """f64 to the stored type: F16 for matrices and kernels, F32 for the rest."""
    stored = tensor.to(torch.float16 if tensor.ndim >= 2 else torch.float32).contiguous()
    if not torch.isfinite(stored).all():
        raise ValueError(f"{name}: a value is not finite, or too large for {stored.dtype}")
    return stored


def save_tensors(tensors, path, metadata=None):
    """safetensors' save_file, but with the header in a fixed order: same input, same bytes."""
    data = save(tensors, metadata=metadata)
    end = 8 + int.from_bytes(data[:8], "little")
    header = json.loads(data[8:end])
    if metadata:
        header["__metadata__"] = dict(sorted(metadata.items()))
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    path.write_bytes(len(text).to_bytes(8, "little") + text + data[end:])


def export_model(net, path, *, name, calibration, licence, training_data):
    """Writes `net` (an AlignerNet) as a model file."""
    missing = [k for k in CALIBRATION if k not in calibration]
    if missing:
        raise ValueError(f"the calibration lacks {missing}")
    calibration = {k: float(calibration[k]) for k in CALIBRATION}
    if not all(math.isfinite(v) for v in calibration.values()):
        raise ValueError(f"a number of the calibration is not finite: {calibration}")
    tensors = {k: to_storage(k, v) for k, v in fold_batch_norms(net).items()}
    metadata = {
        "format": FORMAT,
        "schema_version": str(SCHEMA_VERSION),
        "name": name,
        "config": json.dumps(dataclasses.asdict(net.config)),
        "calibration": json.dumps(calibration),
        "licence": licence,
        "training_data": training_data,
        "made_by": "av_fusion/apps/train_aligner/export.py",
    }
    path = pathlib.Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    save_tensors(tensors, path, metadata)


def load_exported(path):
    """AlignerNet in eval mode with the weights of a model file, as they were stored.

    Its batch norms do nothing but add the folded bias.
    """
    with safe_open(path, "pt") as file:
        config = make_config(json.loads(file.metadata()["config"]))
        state = {k: file.get_tensor(k).float() for k in file.keys()}
    net = AlignerNet(config).eval()
    for i, norm in enumerate(net.video.norms):
        bias = state.pop(f"video.convs.{i}.bias")
        state[f"video.norms.{i}.weight"] = torch.ones_like(bias)
        state[f"video.norms.{i}.bias"] = bias
        state[f"video.norms.{i}.running_mean"] = torch.zeros_like(bias)
        state[f"video.norms.{i}.running_var"] = torch.full_like(bias, 1 - norm.eps)
        state[f"video.norms.{i}.num_batches_tracked"] = torch.tensor(0)
    net.load_state_dict(state)
    return net


def main():
    parser = argparse.ArgumentParser(description="Writes a checkpoint as a model file.")
    parser.add_argument("--checkpoint", required=True, type=pathlib.Path)
    parser.add_argument("--output", required=True, type=pathlib.Path)
    parser.add_argument("--name", help="default: the name in the checkpoint, or the output's stem")
    parser.add_argument("--licence", default=LICENCE)
    parser.add_argument("--training-data", help="default: the text in the checkpoint")
    args = parser.parse_args()

    checkpoint = torch.load(args.checkpoint, map_location="cpu", weights_only=True)
    training_data = args.training_data or checkpoint.get("training_data")
    if not training_data:
        parser.error("the checkpoint does not say what it was trained on; give --training-data")
    net = AlignerNet(make_config(checkpoint["config"])).eval()
    net.load_state_dict(checkpoint["model"])
    export_model(net, args.output, name=args.name or checkpoint.get("name") or args.output.stem,
                 calibration=checkpoint["calibration"], licence=args.licence,
                 training_data=training_data)
    print(f"{args.output}: {sum(p.numel() for p in net.parameters())} parameters, "
          f"{args.output.stat().st_size} bytes")


if __name__ == "__main__":
    main()
