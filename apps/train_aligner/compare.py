# Copyright 2026 The av_fusion authors. SPDX-License-Identifier: Apache-2.0
"""Several training runs on the same held-out people, judged alike: for choices and for ablation tables.

    python compare.py --features DIR --table train.tsv [...] --judge RUN/best.pt NAME=RUN/best.pt [NAME=...]

Two tables in Markdown, by kind of clips. The first: share of windows of 5, 15, 25 and 50 ticks, one at every tick, whose
best lag is within 40 ms of the truth, every clip counting alike. The truth of a drawn face is known; that of a real clip is
what the run given as --judge (the best there is) says of the rest of the clip, for all runs the same, and only clips of
which the judge is sure are used. The second: the chance that a window with its own sound stands out more than one with
the sound of another clip of the kind (the area under the ROC curve of `lag_contrast`). Runs with the same NAME are seeds of
one another: their mean, and in brackets the lowest and highest.
"""

import argparse

import numpy as np
import torch

import calibration
import dataset
from evidence import clip_evidence, peak
from model import AlignerNet, Config

LENGTHS = (5, 15, 25, 50)
NEAR = 4.5  # lags of 10 ms that count as right: 40 ms, and half a lag of rounding


def read_net(checkpoint):
    state = torch.load(checkpoint, weights_only=False)
    net = AlignerNet(Config(**state["config"]))
    net.load_state_dict(state["model"])
    return net.eval(), state


def hits_of(clip, logits, judge):
    """{ticks: share of the clip's windows that are right}."""
    right = {}
    for n, summed, truth in calibration.windows_of(clip, logits, LENGTHS, 1, judge):
        right.setdefault(n, []).append(abs(peak(summed) - truth) <= NEAR)
    return {n: float(np.mean(values)) for n, values in right.items()}


def hit_rates(net, clips, judged):
    """{(folder, ticks): per cent}; `judged`: the judge's logits of each clip."""
    rates = {}
    for clip, judge in zip(clips, judged):
        logits, _ = clip_evidence(net, clip, calibration.SEARCH)
        for n, share in hits_of(clip, logits, judge).items():
            rates.setdefault((clip.folder, n), []).append(100 * share)
    return {key: float(np.mean(values)) for key, values in rates.items()}


def ranked_above(high, low):
    """Chance that one of `high` is above one of `low`; ties count half."""
    high, low = np.asarray(high), np.sort(low)
    return float((np.searchsorted(low, high, "left") + np.searchsorted(low, high, "right")).mean() / (2 * len(low)))


def own_above_foreign(net, clips):
    """{(folder, ticks): per cent}."""
    own, foreign = {}, {}
    for folder, n, contrast, is_own in calibration.contrasts(net, clips, LENGTHS):
        (own if is_own else foreign).setdefault((folder, n), []).append(contrast)
    return {key: 100 * ranked_above(own[key], foreign[key]) for key in own}


def cell(values):
    mean = sum(values) / len(values)
    return f"{mean:.1f}" if len(values) == 1 else f"{mean:.1f} ({min(values):.1f}..{max(values):.1f})"


def print_table(title, folders, runs):
    """`runs`: {name: [{(folder, ticks): per cent}, one for each seed]}; folders: {name: clips}."""
    print(f"\n| {title} | seeds | " + " | ".join(f"{f}, {k} clips, {n} ticks" for f, k in folders.items() for n in LENGTHS)
          + " |")
    print("| --- " * (2 + len(folders) * len(LENGTHS)) + "|")
    for name, seeds in runs.items():
        cells = [cell([rates[f, n] for rates in seeds]) for f in folders for n in LENGTHS]
        print(f"| {name} | {len(seeds)} | " + " | ".join(cells) + " |")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--features", action="append", required=True)
    parser.add_argument("--table", action="append", required=True)
    parser.add_argument("--judge", required=True)
    parser.add_argument("runs", nargs="+", metavar="NAME=CHECKPOINT")
    arguments = parser.parse_args()
    judge, state = read_net(arguments.judge)
    clips = dataset.held_out_clips(arguments.features, arguments.table, state["lags"])
    judged = [clip_evidence(judge, clip, calibration.SEARCH)[0] for clip in clips]
    folders = {f: len([c for c in clips if c.folder == f]) for f in sorted({clip.folder for clip in clips}, reverse=True)}
    hits, above = {}, {}
    for run in arguments.runs:
        name, checkpoint = run.split("=", 1)
        net, _ = read_net(checkpoint)
        hits.setdefault(name, []).append(hit_rates(net, clips, judged))
        above.setdefault(name, []).append(own_above_foreign(net, clips))
    print_table("within 40 ms", folders, hits)
    print_table("own above foreign", folders, above)


if __name__ == "__main__":
    main()
