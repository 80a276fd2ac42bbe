# Copyright 2026 The av_fusion authors. SPDX-License-Identifier: Apache-2.0
"""Averages the weights of training runs of which one began with another: a checkpoint that is as good as either or better.

    python average.py --output RUN/best.pt RUN4/best.pt=0.25 RUN5/best.pt=0.75

The shares must sum to 1. Everything else is the last checkpoint's; run calibration.py on the result, and compare.py to see
whether it is worth it.
"""

import argparse
import pathlib

import torch


def average(states, shares):
    """Of state dicts with the same keys; integers (counters) are the last one's."""
    last = states[-1]
    return {key: sum(share * state[key] for state, share in zip(states, shares))
            if value.dtype.is_floating_point else value for key, value in last.items()}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--output", required=True, type=pathlib.Path)
    parser.add_argument("checkpoints", nargs="+", metavar="CHECKPOINT=SHARE")
    arguments = parser.parse_args()
    paths, shares = zip(*(text.rsplit("=", 1) for text in arguments.checkpoints))
    shares = [float(share) for share in shares]
    if abs(sum(shares) - 1) > 1e-6:
        parser.error(f"the shares sum to {sum(shares)}, not to 1")
    checkpoints = [torch.load(path, weights_only=False) for path in paths]
    result = checkpoints[-1]
    if any(checkpoint["config"] != result["config"] for checkpoint in checkpoints):
        parser.error("the checkpoints are of different networks")
    result["model"] = average([checkpoint["model"] for checkpoint in checkpoints], shares)
    arguments.output.parent.mkdir(parents=True, exist_ok=True)
    torch.save(result, arguments.output)


if __name__ == "__main__":
    main()
