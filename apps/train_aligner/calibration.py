# Copyright 2026 The av_fusion authors. SPDX-License-Identifier: Apache-2.0
"""Fits what turns a network's evidence into probabilities, on people that did not train it.

    python calibration.py --features DIR --table train.tsv [--features DIR --table clips.tsv] RUN/best.pt

train.py does so at its end; this does it anew for a finished run and writes the numbers into its checkpoint.
"""

import argparse
import copy

import numpy as np
import torch
import torch.nn.functional as F

import dataset
from evidence import clip_evidence, peak
from model import AlignerNet, Config

MATCH_TICKS = 150.0   # beyond them the match of face and sound is judged by the contrast alone
SEARCH = 100          # lags searched on either side, as by default in the product
STEP_TICKS = 5        # of one judgement whether a face speaks
LAG_REACH = 5         # evidence within so many lags of the true one counts for the face
TURNS = 40            # conversations made of each clip
LENGTHS = (5, 15, 25, 50, 75, 125, 250)  # ticks of the windows that are judged


def lag_contrast(summed, ticks, reach=12):
    """How far the best lag stands out, for each tick: its evidence less the best beyond 120 ms."""
    k = int(summed.argmax())
    beyond = np.concatenate([summed[:max(0, k - reach)], summed[k + reach + 1:]])
    return float(summed[k] - beyond.max()) / ticks


def group_weights(groups):
    """A weight for each window, so that every group of at least 40 counts the same; sums to 1."""
    names, index, sizes = np.unique(groups, return_inverse=True, return_counts=True)
    weights = 1 / np.maximum(sizes, 40)[index]
    return weights / weights.sum()



def windows_of(clip, logits, lengths=LENGTHS, every=None, judge=None):
    """(ticks, summed logits, true lag column) of windows of a clip with its own sound, end to end or one `every` ticks.

    A drawn face has the lag that it was made with. That of a real clip is not known; the rest of the clip
    says it (in the logits `judge`, if another network is to), so that no window judges itself, and windows
    longer than half of it are not used.
    """
    late = clip.picture_offset[:len(logits)].mean()
    judge = logits if judge is None else judge
    whole = judge.sum(0)
    for n in lengths:
        for begin in range(0, len(logits) - n + 1, every or n):
            here = slice(begin, begin + n)
            if clip.folder == "made":
                yield n, logits[here].sum(0), SEARCH + late
            elif 2 * n <= len(logits):
                yield n, logits[here].sum(0), peak(whole - judge[here].sum(0))


def fit_lags(net, clips):
    """Scale of the evidence by maximum likelihood; all lengths and kinds of clips count alike."""
    groups, windows = [], []
    for clip in clips:
        logits, _ = clip_evidence(net, clip, SEARCH)
        for window in windows_of(clip, logits):
            groups.append(f"{clip.folder}/{window[0]}")
            windows.append(window)
    weights = group_weights(groups)
    ns, sums, truth = (np.array(column, np.float32) for column in zip(*windows))
    lags = 2 * SEARCH + 1
    near = np.abs(np.arange(lags)[None] - np.clip(np.round(truth), 0, lags - 1)[:, None]) <= 4
    best = None
    for b in (5, 7, 10, 14, 20, 28, 40, 80, 160, 400, 1e4):
        for a in np.exp(np.linspace(-3.5, 1.0, 55)):
            scaled = sums * (a / (1 + ns / b))[:, None]
            p = np.exp(scaled - scaled.max(1, keepdims=True))
            p /= p.sum(1, keepdims=True)
            mass = (p * near).sum(1)
            for outlier in (0.005, 0.01, 0.02, 0.05):
                score = weights @ np.log((1 - outlier) * mass + outlier * 9 / lags)
                if best is None or score > best[0]:
                    best = (score, a, b, outlier)
    return {"evidence_scale": float(best[1]), "correlated_ticks": float(best[2]), "outlier_share": best[3],
            "log_likelihood": float(best[0]), "windows": len(windows)}


def contrasts(net, clips, lengths=LENGTHS):
    """(folder, ticks, contrast, whether the sound is the clip's own) of windows with their own sound and with that of
    all other clips of the same kind, those of the same person among them."""
    for clip in clips:
        for voice in [c for c in clips if c.folder == clip.folder]:
            logits, _ = clip_evidence(net, clip, SEARCH, voice)
            for ticks in lengths:
                for begin in range(0, len(logits) - ticks + 1, ticks):
                    yield (clip.folder, ticks, lag_contrast(logits[begin:begin + ticks].sum(0), ticks), voice is clip)


def fit_match(net, clips):
    """Log-odds that face and sound belong together."""
    folder, n, contrast, own = zip(*contrasts(net, clips))
    groups = [f"{f}/{ticks}/{o}" for f, ticks, o in zip(folder, n, own)]
    weights = torch.from_numpy(group_weights(groups))
    n, contrast, label = torch.tensor(n).float(), torch.tensor(contrast), torch.tensor(own).float()
    counted = torch.sqrt(n / (1 + n / MATCH_TICKS))
    scale = torch.nn.Parameter(torch.tensor([0.5, -0.5]))

    def loss():
        log_odds = counted * (scale[0] * contrast + scale[1])
        return F.binary_cross_entropy_with_logits(log_odds, label, weight=weights, reduction="sum")

    minimise(scale, loss)
    return {"match_scale": scale[0].item(), "match_bias": scale[1].item(), "match_ticks": MATCH_TICKS,
            "matches": len(groups)}


def minimise(parameters, loss):
    optimiser = torch.optim.LBFGS([parameters], max_iter=200, line_search_fn="strong_wolfe")

    def step():
        optimiser.zero_grad()
        value = loss()
        value.backward()
        return value

    optimiser.step(step)


def conversation(clip, other, rng):
    """The clip in turns of 1 to 4 s with its own sound, that of `other`, or both.

    Returns it and [mel frames] whether its own voice is heard.
    """
    times = -(-len(clip.mel) // len(other.mel))
    voice = np.tile(other.mel, (times, 1))[:len(clip.mel)] + np.float32(rng.uniform(-2, 2))
    mel, own = clip.mel.copy(), clip.speech.copy()
    at = 0
    while at < len(mel):
        turn = slice(at, at + int(rng.uniform(100, 400)))
        kind = rng.integers(4)
        if kind == 1:
            mel[turn], own[turn] = voice[turn], False
        elif kind == 2:
            mel[turn] = np.logaddexp(mel[turn], voice[turn])
        at = turn.stop
    changed = copy.copy(clip)
    changed.mel = mel
    return changed, own


def steps_of(net, clip, own, rng):
    """[3, steps] for each step of a conversation: evidence at the clip's lag, speaking log-odds, share of ticks
    in which it speaks."""
    logits, speaking = clip_evidence(net, clip, SEARCH)
    at = SEARCH + clip.lag + clip.picture_offset[:len(logits)].mean() + rng.normal()  # as sure as a file is
    near = np.abs(np.arange(2 * SEARCH + 1) - at) <= LAG_REACH
    evidence = logits[:, near].mean(1) - logits.mean(1)
    frame = dataset.LEAD + 4 * np.arange(len(logits)) + int(round(clip.lag))
    label = [own[max(0, a - 8):a + 9].mean() > 0.4 for a in frame]
    whole = len(logits) // STEP_TICKS * STEP_TICKS
    rows = np.array([evidence, speaking, label], np.float32)[:, :whole]
    return rows.reshape(3, -1, STEP_TICKS).mean(2)


def smoothed(log_odds, start, stop):
    """Log-odds [B, N] that each step is spoken, given all of its row: the forward-backward algorithm of a chain
    that starts to speak with probability `start` a step and stops with `stop`."""
    change = torch.log(torch.stack([torch.stack([1 - start, start]), torch.stack([stop, 1 - stop])]))
    seen = torch.stack([torch.zeros_like(log_odds), log_odds], -1)
    first = torch.log(torch.stack([stop, start]) / (start + stop))
    forward = [first + seen[:, 0]]
    for i in range(1, seen.shape[1]):
        forward.append(torch.logsumexp(forward[-1][:, :, None] + change, 1) + seen[:, i])
    backward = [torch.zeros_like(seen[:, 0])]
    for i in range(seen.shape[1] - 1, 0, -1):
        backward.append(torch.logsumexp(change + (backward[-1] + seen[:, i])[:, None, :], 2))
    both = torch.stack(forward, 1) + torch.stack(backward[::-1], 1)
    return both[..., 1] - both[..., 0]


def fit_speaking(net, clips, rng):
    """Log-odds that a face speaks in a step, and how long turns are, from made conversations of real people."""
    real = [clip for clip in clips if clip.folder != "made"]
    rows = []
    for clip in real * TURNS:
        others = [c for c in real if c.person != clip.person]
        rows.append(steps_of(net, *conversation(clip, others[rng.integers(len(others))], rng), rng))
    length = max(row.shape[1] for row in rows)
    used = torch.tensor([[i < row.shape[1] for i in range(length)] for row in rows]).float()
    evidence, speaking, label = torch.from_numpy(
        np.stack([np.pad(row, ((0, 0), (0, length - row.shape[1]))) for row in rows], 1))
    fitted = torch.nn.Parameter(torch.tensor([0.3, 0.2, -0.3, -2.5, -1.5]))

    def loss():
        log_odds = used * (fitted[0] * evidence + fitted[1] * speaking + fitted[2])
        found = smoothed(log_odds, torch.sigmoid(fitted[3]), torch.sigmoid(fitted[4]))
        return F.binary_cross_entropy_with_logits(found, label, weight=used, reduction="sum") / used.sum()

    minimise(fitted, loss)
    scale, head, bias, start, stop = fitted.tolist()
    return {"speaking_scale": scale, "speaking_head": head, "speaking_bias": bias,
            "speaking_start": float(torch.sigmoid(torch.tensor(start))),
            "speaking_stop": float(torch.sigmoid(torch.tensor(stop))),
            "speaking_loss": loss().item(), "conversations": len(rows)}


def fit_calibration(net, clips, rng):
    """All of it, as export.py wants it."""
    net.eval()
    return {**fit_lags(net, clips), **fit_match(net, clips), **fit_speaking(net, clips, rng)}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--features", action="append", required=True)
    parser.add_argument("--table", action="append", required=True)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("checkpoint")
    arguments = parser.parse_args()
    state = torch.load(arguments.checkpoint, weights_only=False)
    net = AlignerNet(Config(**state["config"]))
    net.load_state_dict(state["model"])
    clips = dataset.held_out_clips(arguments.features, arguments.table, state["lags"])
    state["calibration"] = fit_calibration(net, clips, np.random.default_rng(arguments.seed))
    torch.save(state, arguments.checkpoint)
    print(state["calibration"])


if __name__ == "__main__":
    main()
