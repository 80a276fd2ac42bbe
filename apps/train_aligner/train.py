# Copyright 2026 The av_fusion authors. SPDX-License-Identifier: Apache-2.0
"""Trains the alignment network on features written by extract_features.

    python train.py --features DIR --table train.tsv [--features DIR --table clips.tsv] --run RUN --steps 4500

Resumes from RUN/last.pt when that exists, and draws what it would have drawn. Writes RUN/last.pt while it
runs and RUN/best.pt (averaged weights with fitted calibration, ready for export.py) at the end, and
RUN/log.jsonl. One step takes about 1.3 s on one core. best.pt is of the step at which the lags of held-out people
were likeliest; a run that has not improved on it at several looks in a row stops early.

Which people are held out (for calibration and for the log; never for the final report) depends on
their names alone. Lags of sources other than GRID are not given: they are measured with the network
itself as it learns (see estimate_lags) and written to RUN/lags.tsv.
"""

import argparse
import copy
import dataclasses
import json
import math
import pathlib
import time

import numpy as np
import torch
import torch.nn.functional as F

import dataset
from calibration import fit_calibration, fit_lags
from evidence import CONTEXT, WIDTH, clip_evidence, peak
from model import AlignerNet, Config

REFERENCE = ("grid_s1", "grid_more", "made")       # lag 0 by definition or by construction
AUGMENTATIONS = ("tempo", "pictures", "warp", "shade", "lips", "sound", "throat")  # warp, shade, throat: parts of others
FIRST_LOOK, LOOKS, PATIENCE = 0.4, 12, 8           # share of the steps; looks from there on; fruitless ones in a row
PRIOR_LAG = {"lrwar": 4.0, "webcam_tr": 0.0, "syllables": 0.0}  # starting points, in 10 ms frames


def window_sums(logits, n):
    """[B, T, L] -> sums over n consecutive ticks [B, T - n + 1, L]."""
    total = F.pad(logits, (0, 0, 1, 0)).cumsum(1)
    return total[:, n:] - total[:, :-n]


def soft_target(lag, lags, sigma=0.9):
    distance = torch.arange(lags)[None] - lag[:, None]
    return torch.softmax(-0.5 * (distance / sigma) ** 2, -1)


class Evidence(torch.nn.Module):
    """Scale of summed logits: a / (1 + n / b), because neighbouring ticks are not independent."""

    def __init__(self):
        super().__init__()
        self.log_a = torch.nn.Parameter(torch.tensor(0.0))
        self.log_b = torch.nn.Parameter(torch.tensor(4.0))

    def forward(self, n):
        return self.log_a.exp() / (1 + n / self.log_b.exp())


def loss_of(logits, speaking, batch, evidence):
    """Cross-entropy of the true lag at several window lengths, plus who speaks."""
    valid = batch["valid"].float()
    matched = batch["matched"]
    target = soft_target(batch["lag"], logits.shape[-1])
    summed = logits.sum(2) * valid[..., None]
    parts = {}
    for n, weight in ((1, 0.1), (5, 0.4), (15, 1.0), (summed.shape[1], 0.6)):
        sums = window_sums(summed, n)
        count = window_sums(valid[..., None], n)[..., 0]
        log_p = F.log_softmax(sums * evidence(count)[..., None], -1)
        spoken = window_sums(batch["speaking"][..., None], n)[..., 0] / n
        use = (count >= 0.8 * min(n, 20)).float()
        positive = use * matched[:, None] * (spoken > 0.5)
        cross = -(target[:, None] * log_p).sum(-1)
        parts[f"lag{n}"] = weight * (cross * positive).sum() / positive.sum().clamp_min(1)
        if n >= 15:
            flat = use * (~matched[:, None])
            parts[f"flat{n}"] = 0.25 * (-log_p.mean(-1) * flat).sum() / flat.sum().clamp_min(1)
    heads = window_sums(logits.flatten(2) * valid[..., None], 5)
    heads = F.log_softmax(heads.unflatten(2, logits.shape[2:]), -1)
    positive = (window_sums(batch["speaking"][..., None], 5)[..., 0] > 2.5) * matched[:, None]
    cross = -(target[:, None, None] * heads).sum(-1).mean(-1)
    parts["heads"] = 0.15 * (cross * positive).sum() / positive.sum().clamp_min(1)
    label = batch["speaking"] * matched[:, None]
    bce = F.binary_cross_entropy_with_logits(speaking, label, reduction="none")
    parts["speaking"] = 0.4 * (bce * valid).sum() / valid.sum().clamp_min(1)
    return sum(parts.values()), {k: v.item() for k, v in parts.items()}


def posterior(summed, n, evidence):
    scaled = summed * float(evidence(torch.tensor(float(n))))
    p = np.exp(scaled - scaled.max())
    return p / p.sum()


def mass_near(p, at, reach=4.5):
    k = np.arange(len(p))
    return float(p[np.abs(k - at) <= reach].sum())


def prepare(clips):
    """Sets what is known of clips before any network has seen them."""
    for clip in clips:
        clip.held_out = clip.folder != "lrwar" and dataset.person_is_held_out(clip.person)
        clip.lag = PRIOR_LAG.get(clip.folder, 0.0)
        clip.usable = clip.folder in REFERENCE or clip.folder in PRIOR_LAG


def lags_of(clips):
    """As a checkpoint keeps them."""
    return {clip.name: (float(clip.lag), bool(clip.usable)) for clip in clips}


def estimate_lags(net, evidence, clips):
    """Sets clip.lag and clip.usable of every clip that is not a reference; reports all sources.

    A source takes the peak of the evidence of all its clips together. Long clips with a sure answer
    of their own take that, since sources differ inside too; unsure ones follow their source if it is
    consistent, and are dropped otherwise.
    """
    net.eval()
    by_source = {}
    for clip in clips:
        by_source.setdefault(clip.source, []).append(clip)
    rows = []
    for source, members in sorted(by_source.items()):
        short = members[0].folder == "lrwar"
        reference = members[0].folder in REFERENCE
        chosen = members[:: max(1, len(members) // 100)] if short or reference else members
        answers = []
        total = 0
        for clip in chosen:
            logits, _ = clip_evidence(net, clip)
            late = clip.picture_offset[:len(logits)].mean()
            summed = logits.sum(0)
            p = posterior(summed, clip.valid.sum(), evidence)
            at = peak(summed)
            answers.append((at - WIDTH - late, mass_near(p, at)))
            total = total + p
        sure = [a for a, m in answers if m > 0.8 and abs(a) < WIDTH - 4]
        common = float(np.median(sure)) if sure else 0.0
        spread = float(np.median(np.abs(np.array(sure) - common))) if sure else 99.0
        if reference:
            pass
        elif short:
            common = peak(np.log(total + 1e-9)) - WIDTH
            for clip in members:
                clip.lag, clip.usable = float(common), True
        else:
            for clip, (answer, mass) in zip(chosen, answers):
                own = mass > 0.8 and abs(answer) < 45
                follow = len(sure) >= 3 and spread < 3
                clip.lag = float(answer) if own else common
                clip.usable = own or follow
        rows.append((source, len(members), sum(c.usable for c in members), round(10 * common, 1),
                     round(10 * spread, 1)))
    return rows


def hit_rates(net, clips, lengths=(5, 15, 25, 50)):
    """Share of windows of held-out clips whose best lag is within 40 ms, by folder and length."""
    net.eval()
    hits = {}
    for clip in clips:
        logits, _ = clip_evidence(net, clip)
        truth = WIDTH + clip.lag + clip.picture_offset[:len(logits)].mean()
        for n in lengths:
            for begin in range(0, len(logits) - n + 1, n):
                guess = peak(logits[begin:begin + n].sum(0))
                hits.setdefault(f"{clip.folder}/{n}", []).append(abs(guess - truth) <= 4.5)
    return {k: (round(100 * float(np.mean(v)), 1), len(v)) for k, v in sorted(hits.items())}


class EarlyStop:
    """Keeps the likeliest state so far and counts the looks since."""

    def __init__(self):
        self.best = None  # {"score", "step", and what `look` was given}
        self.fruitless = 0

    def look(self, score, step, **state):
        """A copy of `state` is kept if `score` is the highest yet."""
        if self.best is None or score > self.best["score"]:
            self.best = copy.deepcopy({"score": score, "step": step, **state})
            self.fruitless = 0
        else:
            self.fruitless += 1

    @property
    def is_over(self):
        return self.fruitless >= PATIENCE


def train(arguments):
    torch.manual_seed(arguments.seed)
    rng = np.random.default_rng(arguments.seed)
    run = pathlib.Path(arguments.run)
    run.mkdir(parents=True, exist_ok=True)

    def say(**row):
        text = json.dumps(row, default=float)
        with open(run / "log.jsonl", "a") as log:
            log.write(text + "\n")
        print(text, flush=True)

    clips = []
    for features, table in zip(arguments.features, arguments.table):
        clips += dataset.load_clips(features, table, Config().picture_pool)
    prepare(clips)
    held_out = [c for c in clips if c.held_out and c.ticks >= 25]
    left_out = set(arguments.leave_out)
    clips = [c for c in clips if c.held_out or (c.folder not in left_out and
                                                dataset.person_is_among(c.person, arguments.people))]
    say(event="data", clips=len(clips), ticks=sum(c.ticks for c in clips),
        people=len({c.person for c in clips if not c.held_out}), left_out=sorted(left_out),
        held_out=len(held_out), held_out_people=len({c.person for c in held_out}))

    net = AlignerNet(Config(), dropout=0.1)
    sample = [clips[i] for i in rng.permutation(len(clips))[:300]]
    lips = np.concatenate([c.lips for c in sample])
    mel = np.concatenate([c.mel[c.mel_valid] for c in sample])
    net.video.lip_mean.copy_(torch.from_numpy(lips.mean(0)))
    net.video.lip_scale.copy_(torch.from_numpy(1 / (lips.std(0) + 1e-3)))
    net.audio.mel_mean.copy_(torch.from_numpy(mel.mean(0)))
    net.audio.mel_scale.copy_(torch.from_numpy(1 / (mel.std(0) + 1e-3)))
    evidence = Evidence()
    parameters = list(net.parameters()) + list(evidence.parameters())
    optimiser = torch.optim.AdamW(parameters, lr=arguments.rate, weight_decay=0.03)
    average = copy.deepcopy(net)
    early_stop = EarlyStop()
    elapsed, step = 0.0, 0
    if arguments.start and not (run / "last.pt").exists():
        state = torch.load(arguments.start, weights_only=False)
        net.load_state_dict(state["model"])
        average.load_state_dict(state["model"])
        evidence.load_state_dict(state["evidence"])
        for clip in clips:
            clip.lag, clip.usable = state["lags"].get(clip.name, (clip.lag, clip.usable))
    if (run / "last.pt").exists():
        state = torch.load(run / "last.pt", weights_only=False)
        net.load_state_dict(state["net"])
        average.load_state_dict(state["model"])
        evidence.load_state_dict(state["evidence"])
        optimiser.load_state_dict(state["optimiser"])
        elapsed, step = state["elapsed"], state["step"]
        early_stop.best, early_stop.fruitless = state["early_stop"]
        rng.bit_generator.state = state["generators"]["numpy"]
        torch.set_rng_state(state["generators"]["torch"])
        for clip in clips:
            clip.lag, clip.usable = state["lags"].get(clip.name, (clip.lag, clip.usable))
        say(event="resumed", step=step, elapsed=round(elapsed))

    def save(name, **more):
        torch.save({"net": net.state_dict(), "model": average.state_dict(),
                    "evidence": evidence.state_dict(), "optimiser": optimiser.state_dict(),
                    "config": dataclasses.asdict(net.config), "elapsed": elapsed, "step": step,
                    "early_stop": (early_stop.best, early_stop.fruitless),
                    "generators": {"numpy": rng.bit_generator.state, "torch": torch.get_rng_state()},
                    "lags": lags_of(clips), **more}, run / name)

    def measure_lags():
        rows = estimate_lags(average, evidence, clips)
        with open(run / "lags.tsv", "w") as table:
            table.write("source\tclips\tused\tlag_ms\tspread_ms\n")
            table.writelines("\t".join(map(str, row)) + "\n" for row in rows)
        say(event="lags", rows=rows)

    steps = arguments.steps
    marks = [int(share * steps) for share in (0.12, 0.25, 0.4, 0.6)]  # when lags are measured
    looks = {round(steps * share) for share in np.linspace(FIRST_LOOK, 1, LOOKS)}
    samplers = {}
    next_save = elapsed + 240
    mean_parts, last_report = {}, time.time()
    while step < steps and not early_stop.is_over:
        started = time.time()
        ticks, size = ((30, 48), (60, 24))[step % 2]
        if ticks not in samplers:
            samplers[ticks] = dataset.Sampler(clips, rng, min(ticks, 50))
        windows = [dataset.make_window(samplers[ticks], rng, ticks, WIDTH, CONTEXT, "tempo" not in left_out,
                                       arguments.like_voices) for _ in range(size)]
        batch = dataset.collate(windows)
        crops, lips, sound = batch["crops"], batch["lips"], batch["mel"]
        if "pictures" in left_out:
            crops = crops.float() / 255
        else:
            crops = dataset.augment_pictures(crops, rng, "warp" not in left_out, "shade" not in left_out)
        if "lips" not in left_out:
            lips = dataset.augment_lips(lips, rng)
        if "sound" not in left_out:
            changed = dataset.augment_mel(sound, rng, throat="throat" not in left_out)
            is_changed = torch.from_numpy(rng.random(size) < arguments.changed_sound)
            sound = torch.where(is_changed[:, None, None], changed, sound)
        progress = step / steps
        warm_up = min(1, (step + 1) / 100)
        rate = arguments.rate * warm_up * (0.02 + 0.49 * (1 + math.cos(math.pi * progress)))
        for group in optimiser.param_groups:
            group["lr"] = rate
        net.train()
        with torch.autocast("cpu", torch.bfloat16):
            logits, _, speaking = net(crops, lips, batch["valid"], sound,
                                      torch.full((size,), WIDTH + CONTEXT), WIDTH)
        loss, parts = loss_of(logits, speaking, batch, evidence)
        optimiser.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(parameters, 2.0)
        optimiser.step()
        keep = min(0.998, (1 + step) / (10 + step))
        with torch.no_grad():
            for a, b in zip(average.state_dict().values(), net.state_dict().values()):
                if a.dtype.is_floating_point:
                    a.lerp_(b, 1 - keep)
                else:
                    a.copy_(b)
        step += 1
        for key, value in parts.items():
            mean_parts[key] = 0.98 * mean_parts.get(key, value) + 0.02 * value
        elapsed += time.time() - started
        if step % 50 == 0:
            say(event="step", step=step, minutes=round(elapsed / 60, 1), rate=round(rate, 6),
                seconds=round((time.time() - last_report) / 50, 2),
                **{k: round(v, 3) for k, v in mean_parts.items()})
            last_report = time.time()
        if elapsed >= next_save:
            save("last.pt")
            next_save = elapsed + 240
        if step in marks:
            measure_lags()
            samplers.clear()
            say(event="held_out", hits=hit_rates(average, [c for c in held_out if c.usable]))
            save("last.pt")
        if step in looks:
            average.eval()
            score = fit_lags(average, held_out)["log_likelihood"]
            early_stop.look(score, step, model=average.state_dict(), evidence=evidence.state_dict())
            say(event="look", step=step, log_likelihood=round(score, 4), best_step=early_stop.best["step"])
            save("last.pt")
    average.load_state_dict(early_stop.best["model"])
    evidence.load_state_dict(early_stop.best["evidence"])
    average.eval()
    measure_lags()
    calibration = fit_calibration(average, [c for c in held_out if c.usable], rng)
    hits = hit_rates(average, [c for c in held_out if c.usable])
    say(event="end", step=early_stop.best["step"], calibration=calibration, hits=hits)
    save("best.pt", step=early_stop.best["step"], calibration=calibration, hits=hits)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--features", action="append", required=True)
    parser.add_argument("--table", action="append", required=True)
    parser.add_argument("--run", required=True)
    parser.add_argument("--start", help="weights of an earlier run to begin with, such as OTHER/best.pt")
    parser.add_argument("--steps", type=int, default=4500)
    parser.add_argument("--rate", type=float, default=1.2e-3)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--leave-out", action="append", default=[], metavar="PART",
                        choices=[*dataset.FOLDER_SHARE, *AUGMENTATIONS],
                        help="for ablations: train without a folder of clips, or without an augmentation "
                        "(" + ", ".join(AUGMENTATIONS) + "); held-out people stay")
    parser.add_argument("--changed-sound", type=float, default=1.0, metavar="SHARE",
                        help="share of the windows whose sound is augmented; less suits the last steps, see the model card")
    parser.add_argument("--like-voices", type=float, default=0.5, metavar="SHARE",
                        help="share of the windows with foreign sound whose sound is of the same folder")
    parser.add_argument("--people", type=float, default=1.0,
                        help="for learning curves: train on this share of the people, chosen by their names")
    train(parser.parse_args())
