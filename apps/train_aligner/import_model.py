# Copyright 2026 The av_fusion authors. SPDX-License-Identifier: Apache-2.0
"""Turns a model file back into a checkpoint that train.py can go on from (--start), where the one it was made of is gone.

    python import_model.py --features DIR --table train.tsv [...] assets/models/aligner.safetensors RUN/best.pt

The file has its batch norms folded into the convolutions, in half precision. They are unfolded by what the convolutions
answer to training windows, so that the network computes the same, and trains on as if it had never been a file. The lags of
the clips, which the file does not hold either, are measured anew.
"""

import argparse
import dataclasses
import json
import math
import pathlib

import numpy as np
import torch
from safetensors import safe_open

import dataset
import train
from evidence import CONTEXT, WIDTH
from export import load_exported

WINDOWS, TICKS, SIZE = 40, 30, 24


def training_pictures(clips, rng):
    """Crops, lips and validity of batches like those of train.py."""
    sampler = dataset.Sampler(clips, rng, TICKS)
    for _ in range(WINDOWS):
        batch = dataset.collate([dataset.make_window(sampler, rng, TICKS, WIDTH, CONTEXT) for _ in range(SIZE)])
        yield dataset.augment_pictures(batch["crops"], rng), batch["lips"], batch["valid"]


@torch.no_grad()
def unfold_batch_norms(net, batches):
    """Gives each batch norm of `net` mean and variance of what its convolution answers, and weights that undo them."""
    sums = [[0, 0, 0] for _ in net.video.convs]

    def count(layer, answer):
        total = sums[layer]
        total[0] += answer.shape[0] * answer.shape[2] * answer.shape[3]
        total[1] += answer.double().sum((0, 2, 3))
        total[2] += answer.double().square().sum((0, 2, 3))

    hooks = [conv.register_forward_hook(lambda _, __, answer, layer=layer: count(layer, answer))
             for layer, conv in enumerate(net.video.convs)]
    for crops, lips, valid in batches:
        net.video(crops, lips, valid)
    for hook in hooks:
        hook.remove()
    for norm, (n, first, second) in zip(net.video.norms, sums):
        mean = first / n
        variance = second / n - mean.square()
        norm.bias += (mean - norm.running_mean) * norm.weight / torch.sqrt(norm.running_var + norm.eps)
        norm.weight *= torch.sqrt(variance + norm.eps) / torch.sqrt(norm.running_var + norm.eps)
        norm.running_mean.copy_(mean)
        norm.running_var.copy_(variance)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--features", action="append", required=True)
    parser.add_argument("--table", action="append", required=True)
    parser.add_argument("--seed", type=int, default=5)
    parser.add_argument("model", type=pathlib.Path)
    parser.add_argument("checkpoint", type=pathlib.Path)
    arguments = parser.parse_args()
    with safe_open(arguments.model, "pt") as file:
        calibration = json.loads(file.metadata()["calibration"])
    net = load_exported(arguments.model)
    clips = []
    for features, table in zip(arguments.features, arguments.table):
        clips += dataset.load_clips(features, table, net.config.picture_pool)
    train.prepare(clips)
    scale = train.Evidence()
    with torch.no_grad():
        scale.log_a.fill_(math.log(calibration["evidence_scale"]))
        scale.log_b.fill_(math.log(calibration["correlated_ticks"]))
    for row in train.estimate_lags(net, scale, clips):
        print(*row, sep="\t")
    unfold_batch_norms(net, training_pictures(clips, np.random.default_rng(arguments.seed)))
    arguments.checkpoint.parent.mkdir(parents=True, exist_ok=True)
    torch.save({"model": net.state_dict(), "evidence": scale.state_dict(), "config": dataclasses.asdict(net.config),
                "calibration": calibration, "lags": train.lags_of(clips)}, arguments.checkpoint)


if __name__ == "__main__":
    main()
