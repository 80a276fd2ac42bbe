# Copyright 2026 The av_fusion authors. SPDX-License-Identifier: Apache-2.0
"""Hit rates of several training runs on the same held-out people, with the same lags as truth: an ablation table.

    python compare.py --features DIR --table train.tsv [...] --lags RUN/best.pt NAME=RUN/best.pt [NAME=...]

Each run measures the lags of its clips itself, so what a run says of its own hits cannot be set beside another's. Here
the run given as --lags (the best there is) says what is true for all, and which clips are sure enough to count. Writes
a table in Markdown: talks and made faces, windows of 5, 15, 25 and 50 ticks within 40 ms. Runs with the same NAME are
seeds of one another: their mean, and in brackets the lowest and highest.
"""

import argparse

import torch

import dataset
import train
from model import AlignerNet, Config

LENGTHS = (5, 15, 25, 50)


def read_net(checkpoint):
    state = torch.load(checkpoint, weights_only=False)
    net = AlignerNet(Config(**state["config"]))
    net.load_state_dict(state["model"])
    return net.eval(), state


def cell(values):
    mean = sum(values) / len(values)
    return f"{mean:.1f}" if len(values) == 1 else f"{mean:.1f} ({min(values):.1f}..{max(values):.1f})"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--features", action="append", required=True)
    parser.add_argument("--table", action="append", required=True)
    parser.add_argument("--lags", required=True)
    parser.add_argument("runs", nargs="+", metavar="NAME=CHECKPOINT")
    arguments = parser.parse_args()
    clips = dataset.held_out_clips(arguments.features, arguments.table, read_net(arguments.lags)[1]["lags"])
    folders = sorted({clip.folder for clip in clips}, reverse=True)
    hits = {}
    for run in arguments.runs:
        name, checkpoint = run.split("=", 1)
        rates = train.hit_rates(read_net(checkpoint)[0], clips, LENGTHS)
        for key, (rate, _) in rates.items():
            hits.setdefault(name, {}).setdefault(key, []).append(rate)
    counts = {folder: len([c for c in clips if c.folder == folder]) for folder in folders}
    print("| run | seeds | " + " | ".join(f"{f}, {counts[f]} clips, {n} ticks" for f in folders for n in LENGTHS) + " |")
    print("| --- " * (2 + len(folders) * len(LENGTHS)) + "|")
    for name, by_key in hits.items():
        cells = [cell(by_key[f"{f}/{n}"]) for f in folders for n in LENGTHS]
        print(f"| {name} | {len(next(iter(by_key.values())))} | " + " | ".join(cells) + " |")


if __name__ == "__main__":
    main()
