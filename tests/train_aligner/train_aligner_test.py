# Copyright 2026 The av_fusion authors. SPDX-License-Identifier: Apache-2.0
"""What apps/train_aligner computes, against plain loops and clips whose truth is written into them.

    python3 tests/train_aligner/train_aligner_test.py

Needs what apps/train_aligner/requirements.txt names; ends with 77 (skipped) where that is not installed.
"""

import argparse
import contextlib
import io
import itertools
import json
import math
import pathlib
import sys
import tempfile
import unittest
from unittest import mock

sys.dont_write_bytecode = True  # leave nothing in the source tree
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "apps" / "train_aligner"))

try:
    import numpy as np
    import torch
    import safetensors.torch  # noqa: F401
except ImportError as missing:
    print(f"skipped: {missing} (pip install -r apps/train_aligner/requirements.txt)")
    sys.exit(77)

# pylint: disable=wrong-import-position
import average
import calibration
import compare
import dataset
import evidence
import export
import import_model
import train
from model import AlignerNet, Config

WIDTH, CONTEXT = 20, 8


def clock_clip(name="train/web2/a.mp4", folder="web2", person="web2:a", ticks=80, lag=0.0, late=0.0):
    """A clip in which the time of each picture and of each sound frame can be read.

    Picture i is i everywhere; the sound that belongs to a picture shown at tick i (4 i + `late` frames of 10 ms after
    tick 0) is, in all bands, that number of frames.
    """
    frames = dataset.LEAD + 4 * ticks + dataset.LEAD
    mel = np.arange(frames, dtype=np.float32) - dataset.LEAD - lag - late
    return dataset.Clip(
        name=name, folder=folder, source=f"{folder}:x", person=person,
        crops=np.broadcast_to(np.arange(ticks, dtype=np.uint8)[:, None, None], (ticks, 32, 48)).copy(),
        lips=np.zeros((ticks, 6), np.float32), valid=np.ones(ticks, bool),
        picture_offset=np.full(ticks, late, np.float32),
        mel=np.broadcast_to(mel[:, None], (frames, 80)).copy(), mel_valid=np.ones(frames, bool),
        speech=np.ones(frames, bool), lag=lag)


class Windows(unittest.TestCase):
    def draw(self, clips, seed, **options):
        rng = np.random.default_rng(seed)
        return dataset.make_window(dataset.Sampler(clips, rng, 10), rng, 20, WIDTH, CONTEXT, **options)

    def test_the_lag_of_a_window_points_at_the_sound_of_its_pictures(self):
        for lag, late, tempo in itertools.product((0.0, 5.0, -3.4), (0.0, 1.5), (False, True)):
            checked = 0
            for seed in range(60):
                window = self.draw([clock_clip(lag=lag, late=late)], seed, change_tempo=tempo)
                at = CONTEXT + window["lag"] + 4 * np.arange(20)
                if not window["matched"]:
                    continue
                low = np.floor(at).astype(int)
                for i in range(20):
                    pair = window["mel"][low[i]:low[i] + 2, 0]
                    if len(pair) < 2 or abs(pair[1] - pair[0]) > 1.3 or pair.min() <= dataset.SILENCE:
                        continue  # silence or filler: the sound that belongs here was cut off
                    heard = pair[0] + (at[i] - low[i]) * (pair[1] - pair[0])
                    picture = float(window["crops"][i, 0, 0])
                    self.assertLess(abs(heard - 4 * picture), 2.6 + 0.6 * tempo, (lag, late, tempo, seed, i))
                    checked += 1
            self.assertGreater(checked, 300)

    def test_foreign_sound_is_of_the_same_folder_as_often_as_asked(self):
        talk, news = clock_clip(), clock_clip("train/lrwar/b.mp4", "lrwar", "lrwar:b")
        second = clock_clip("train/web2/c.mp4", "web2", "web2:c")
        for clip, mark in ((talk, 1000.0), (second, 2000.0), (news, 3000.0)):
            clip.mel[:] = mark
            clip.mel_valid[:dataset.LEAD] = False  # nothing was recorded before the first picture
            clip.crops[:] = int(mark / 1000)
        for share in (0.0, 1.0):
            foreign, around = [], []
            for seed in range(800):
                window = self.draw([talk, second, news], seed, like_voices=share)
                if window["crops"][0, 0, 0] == 3:
                    continue
                if window["matched"]:  # what plays before and after it may be of any kind
                    around.append((window["mel"] == 3000).any())
                elif window["mel"][0, 0] > 0:
                    foreign.append(window["mel"][0, 0] == 3000)
            self.assertGreater(len(foreign), 20)
            self.assertEqual(any(foreign), share == 0)
            self.assertTrue(any(around))

    def test_foreign_sound_is_never_the_clip_itself(self):
        for seed in range(200):
            window = self.draw([clock_clip()], seed, like_voices=1.0)
            if not window["matched"]:
                self.assertTrue((window["mel"] == dataset.SILENCE).all())


class Augmentation(unittest.TestCase):
    def test_shade_is_the_same_in_all_pictures_of_a_clip(self):
        gray = torch.full((6, 10, 32, 48), 128, dtype=torch.uint8)
        plain = dataset.augment_pictures(gray, np.random.default_rng(4), warp=False, shade=False)
        shaded = dataset.augment_pictures(gray, np.random.default_rng(4), warp=False, shade=True)

        def uneven(x):  # spread over the picture of the mean over time, noise nearly averaged away
            return x.mean(1).flatten(1).std(1)

        self.assertGreater(float(uneven(shaded).median()), 3 * float(uneven(plain).median()))

        def unsteady(x):
            return float(x.std(1).flatten(1).mean(1).median())

        self.assertLess(unsteady(shaded), 1.5 * unsteady(plain))


class Calibration(unittest.TestCase):
    def test_smoothing_is_the_sum_over_all_histories(self):
        rng = np.random.default_rng(1)
        log_odds = rng.normal(0, 2, (2, 6))
        start, stop = 0.1, 0.3
        chain = {(0, 0): 1 - start, (0, 1): start, (1, 0): stop, (1, 1): 1 - stop}
        found = calibration.smoothed(torch.tensor(log_odds), torch.tensor(start, dtype=torch.float64),
                                     torch.tensor(stop, dtype=torch.float64)).numpy()
        for row, odds in zip(found, log_odds):
            mass = np.zeros((6, 2))
            for history in itertools.product((0, 1), repeat=6):
                p = (start if history[0] else stop) / (start + stop)
                for before, after in zip(history, history[1:]):
                    p *= chain[before, after]
                p *= math.exp(sum(o for o, state in zip(odds, history) if state))
                for step, state in enumerate(history):
                    mass[step, state] += p
            np.testing.assert_allclose(row, np.log(mass[:, 1] / mass[:, 0]), rtol=1e-9)

    def test_contrast_leaves_out_the_peak_s_own_surroundings(self):
        summed = np.zeros(201)
        summed[90], summed[101], summed[103], summed[140] = 8.0, 20.0, 12.0, 6.0
        # 90 is 11 lags away from the peak at 101, and so belongs to it; 140 does not.
        self.assertEqual(calibration.lag_contrast(summed, 7), (20.0 - 6.0) / 7)
        for far, near in ((88, 89), (114, 113)):
            changed = summed.copy()
            changed[near], changed[far] = 10.0, 9.0
            self.assertEqual(calibration.lag_contrast(changed, 7), (20.0 - 9.0) / 7)

    def test_groups_count_alike_and_small_ones_less(self):
        weights = calibration.group_weights(["a"] * 100 + ["b"] * 50 + ["c"] * 4)
        self.assertAlmostEqual(weights.sum(), 1)
        self.assertAlmostEqual(weights[:100].sum(), weights[100:150].sum())
        self.assertAlmostEqual(weights[150:].sum() / weights[:100].sum(), 4 / 40)

    def test_no_window_of_a_real_clip_judges_itself(self):
        n, lags = 50, 2 * calibration.SEARCH + 1
        logits = np.zeros((n, lags), np.float32)
        logits[:, 110] = 1.0          # what the clip says
        logits[10:15, 40] = 500.0     # and what five ticks of it say
        clip = clock_clip(ticks=n)
        of_five = [w for w in calibration.windows_of(clip, logits) if w[0] == 5]
        self.assertEqual(len(of_five), 10)
        self.assertEqual(int(of_five[2][1].argmax()), 40)
        self.assertEqual(round(of_five[2][2]), 110)
        self.assertEqual(round(of_five[0][2]), 40)  # the others hear that window
        self.assertEqual(max(w[0] for w in calibration.windows_of(clip, logits)), 25)

    def test_drawn_faces_have_the_lag_they_were_made_with(self):
        clip = clock_clip("c.mp4", "made", "made:en", ticks=50, late=1.5)
        logits = np.random.default_rng(1).normal(0, 1, (50, 2 * calibration.SEARCH + 1))
        windows = list(calibration.windows_of(clip, logits))
        self.assertEqual({w[2] for w in windows}, {calibration.SEARCH + 1.5})
        self.assertEqual(max(w[0] for w in windows), 50)

    def test_evidence_scale_is_found_again(self):
        """Gaussian evidence with a shift v at the truth and variance v in a tick deserves the scale 1; what a whole clip has
        in common, with variance v / 40, makes it 1 / (1 + n / 40) for n ticks."""
        rng = np.random.default_rng(3)
        lags = 2 * calibration.SEARCH + 1
        near = slice(calibration.SEARCH - 4, calibration.SEARCH + 5)
        v, clips, rows = 0.12, [], {}
        for k in range(60):
            logits = rng.normal(0, math.sqrt(v), (250, lags)) + rng.normal(0, math.sqrt(v / 40), lags)
            logits[:, near] = logits[:, calibration.SEARCH:calibration.SEARCH + 1] + v  # lags that cannot be told apart
            clips.append(clock_clip(f"{k}.mp4", "made", f"made:{k}", ticks=250))
            rows[f"{k}.mp4"] = logits.astype(np.float32)
        with mock.patch.object(calibration, "clip_evidence", lambda net, clip, *_: (rows[clip.name], None)):
            found = calibration.fit_lags(None, clips)
        for n in (5, 25, 125):
            scale = found["evidence_scale"] / (1 + n / found["correlated_ticks"])
            self.assertLess(abs(math.log(scale * (1 + n / 40))), 0.3, (n, found))

    def test_match_is_found_again(self):
        """Of normal contrasts with variance v, a about m + c v with own and m - c v with foreign sound, the log-odds are
        2 c (a - m), however many more there are of one sort."""
        rng = np.random.default_rng(8)
        m, v, windows = 0.7, 0.3, []
        for ticks in (5, 25, 125):
            c = math.sqrt(ticks / (1 + ticks / calibration.MATCH_TICKS))
            for own, count in ((True, 2000), (False, 8000)):
                drawn = rng.normal(m + (c if own else -c) * v, math.sqrt(v), count)
                windows += [("web2", ticks, float(x), own) for x in drawn]
        with mock.patch.object(calibration, "contrasts", lambda *_: windows):
            found = calibration.fit_match(None, [])
        self.assertAlmostEqual(found["match_scale"], 2.0, delta=0.1)
        self.assertAlmostEqual(found["match_bias"], -2.0 * m, delta=0.1)
        self.assertEqual(found["matches"], len(windows))


class Comparison(unittest.TestCase):
    def test_rank_is_the_share_of_pairs(self):
        rng = np.random.default_rng(2)
        high, low = rng.integers(2, 9, 37), rng.integers(0, 7, 53)
        pairs = [1.0 if a > b else 0.5 if a == b else 0.0 for a in high for b in low]
        self.assertAlmostEqual(compare.ranked_above(high, low), sum(pairs) / len(pairs))

    def test_own_sound_that_stands_out_is_above(self):
        windows = [("web2", 5, 2.0, True), ("web2", 5, 1.0, False), ("web2", 5, 3.0, False), ("made", 5, 1.0, True),
                   ("made", 5, 0.0, False), ("web2", 15, 0.0, True), ("web2", 15, 1.0, False)]
        with mock.patch.object(calibration, "contrasts", lambda *_: windows):
            found = compare.own_above_foreign(None, [])
        self.assertEqual(found, {("web2", 5): 50.0, ("made", 5): 100.0, ("web2", 15): 0.0})

    def test_all_runs_are_judged_by_the_same_truth(self):
        """A run that is 60 ms off everywhere agrees with itself, and not with the judge."""
        lags = 2 * calibration.SEARCH + 1
        judge, run = np.zeros((60, lags)), np.zeros((60, lags))
        judge[:, 100] = 1
        run[:, 106] = 1
        run[20:40, 106], run[20:40, 103] = 0, 1  # a third of it is right
        clip = clock_clip(ticks=60)
        self.assertEqual(compare.hits_of(clip, judge, judge), {5: 1.0, 15: 1.0, 25: 1.0})
        found = compare.hits_of(clip, run, judge)
        # Windows of 5 begin at 0 to 55; most of a window's ticks are right where it begins at 18 to 37.
        self.assertEqual(found[5], 20 / 56)


class Lags(unittest.TestCase):
    def test_peak_is_that_of_a_parabola(self):
        lags = np.arange(151)
        for truth in (40.0, 40.3, 71.75):
            self.assertAlmostEqual(evidence.peak(-(lags - truth) ** 2.0), truth, places=6)
        self.assertEqual(evidence.peak(-lags.astype(float)), 0.0)  # at the edge: no parabola

    def test_stretched_clips_keep_pictures_and_sound_together(self):
        clip = clock_clip(lag=6.0)
        for rate in (0.83, 1.0, 1.2):
            changed = dataset.stretched(clip, rate)
            for tick in (0, 7, 30):
                at = dataset.LEAD + 4 * tick + changed.lag + changed.picture_offset[tick]
                low = int(at)
                heard = changed.mel[low, 0] + (at - low) * (changed.mel[low + 1, 0] - changed.mel[low, 0])
                self.assertAlmostEqual(heard, 4.0 * changed.crops[tick, 0, 0], delta=0.02)


class Checkpoints(unittest.TestCase):
    def test_average_is_that_of_the_weights(self):
        states = [{"w": torch.tensor([1.0, 2.0]), "n": torch.tensor(3)},
                  {"w": torch.tensor([5.0, -2.0]), "n": torch.tensor(9)}]
        mean = average.average(states, [0.25, 0.75])
        self.assertEqual(mean["w"].tolist(), [4.0, -1.0])
        self.assertEqual(mean["n"].item(), 9)

    def test_an_exported_network_says_the_same(self):
        torch.manual_seed(5)
        net = AlignerNet(Config()).eval()
        with torch.no_grad():
            for norm in net.video.norms:
                norm.weight.uniform_(0.5, 2)
                norm.bias.normal_()
                norm.running_mean.normal_()
                norm.running_var.uniform_(0.5, 2)
        inputs = (torch.rand(1, 9, 32, 48), torch.randn(1, 9, 6), torch.ones(1, 9, dtype=torch.bool),
                  torch.randn(1, 4 * 9 + 2 * 28, 80), torch.tensor([28]), 20)
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "model.safetensors"
            export.export_model(net, path, name="x", licence="y", training_data="z",
                                calibration=dict.fromkeys(export.CALIBRATION, 0.5))
            again = export.load_exported(path)
            with torch.no_grad():
                for told, said in zip(net(*inputs), again(*inputs)):
                    self.assertLess(float((told - said).abs().max()), 0.01 * float(told.abs().max()))


    def test_an_imported_network_says_the_same_and_trains_on(self):
        torch.manual_seed(6)
        net = AlignerNet(Config()).eval()
        with torch.no_grad():
            for norm in net.video.norms:
                norm.bias.normal_()
                norm.running_mean.normal_()
        batches = [(torch.rand(4, 12, 32, 48), torch.randn(4, 12, 6), torch.ones(4, 12, dtype=torch.bool))]
        with torch.no_grad():
            told = net.video(*batches[0])
            import_model.unfold_batch_norms(net, batches)
            said = net.video(*batches[0])
            for part in (net.video.norms, net.video.convs):
                part.train()
            in_training = net.video(*batches[0])
        self.assertLess(float((told - said).abs().max()), 1e-4)
        self.assertLess(float((told - in_training).abs().max()), 1e-2)
        for norm in net.video.norms:  # nothing is left to undo for the next batch
            self.assertGreater(float((norm.running_var - 1).abs().max()), 0.01)


class EarlyStopping(unittest.TestCase):
    def test_a_better_look_begins_the_count_anew(self):
        stop, over = train.EarlyStop(), []
        with mock.patch.object(train, "PATIENCE", 2):
            for step, score in enumerate((5, 4, 6, 5, 6, 7)):
                stop.look(score, step)
                over.append(stop.is_over)
        self.assertEqual(over, [False, False, False, False, True, False])
        self.assertEqual(stop.best["step"], 5)


class Runs(unittest.TestCase):
    """The whole of train.py on clips small enough for a test: a run that was stopped ends as one that was not."""

    def write_clips(self, folder):
        rows = ["clip\tsource\tspeaker"]
        for name, speaker in (("train/grid_s1/a.mp4", "p1"), ("train/web2/b.mp4", self.held_out()),
                              ("train/web2/c.mp4", self.held_out(1)), ("train/web2/d.mp4", "p4")):
            clip = clock_clip(name, ticks=60)
            rng = np.random.default_rng(len(rows))
            safetensors.numpy.save_file(
                {"crops": rng.integers(0, 255, (60, 64, 96)).astype(np.uint8), "geometry": clip.lips,
                 "valid": clip.valid.astype(np.uint8), "picture_offset_ms": clip.picture_offset,
                 "mel": rng.normal(-8, 2, clip.mel.shape).astype(np.float32),
                 "mel_valid": clip.mel_valid.astype(np.uint8), "speech": clip.speech.astype(np.uint8)},
                folder / (name.replace("/", "__") + ".safetensors"))
            rows.append(f"{name}\tsome\t{speaker}")
        (folder / "train.tsv").write_text("\n".join(rows) + "\n")

    @staticmethod
    def options(folder, run):
        return argparse.Namespace(
            features=[str(folder)], table=[str(folder / "train.tsv")], run=str(folder / run), start=None,
            steps=5, rate=1e-3, seed=3, leave_out=[], changed_sound=1.0, like_voices=0.5, people=1.0)

    @staticmethod
    @contextlib.contextmanager
    def judged(*scores):
        """Held-out people are this likely at one look after the other; gives the weights that were looked at."""
        left, seen = list(scores), []

        def fit_lags(net, _):
            seen.append({key: value.clone() for key, value in net.state_dict().items()})
            return {"log_likelihood": left.pop(0)}

        with mock.patch.object(train, "fit_lags", fit_lags):
            yield seen

    @staticmethod
    def held_out(skip=0):
        names = (f"p{k}" for k in itertools.count() if dataset.person_is_held_out(f"web2:p{k}"))
        return next(itertools.islice(names, skip, None))

    def test_a_stopped_run_goes_on_as_if_it_had_not(self):
        with tempfile.TemporaryDirectory() as folder:
            folder = pathlib.Path(folder)
            self.write_clips(folder)

            def stopped_after(marks):
                """For estimate_lags: stops a run like a power cut, once the state of so many marks was saved."""
                def lags(net, scale, clips):
                    nonlocal marks
                    marks -= 1
                    if marks < 0:
                        raise KeyboardInterrupt
                    for clip in clips:
                        clip.usable = True
                    return []
                return lags

            with mock.patch.object(train, "fit_calibration", lambda *_: {"made": 1}), \
                    contextlib.redirect_stdout(io.StringIO()):
                with self.judged(4, 1, 2, 3), mock.patch.object(train, "estimate_lags", stopped_after(99)):
                    train.train(self.options(folder, "whole"))
                with self.judged(4), mock.patch.object(train, "estimate_lags", stopped_after(2)), \
                        self.assertRaises(KeyboardInterrupt):
                    train.train(self.options(folder, "parts"))
                with self.judged(1, 2, 3), mock.patch.object(train, "estimate_lags", stopped_after(99)):
                    train.train(self.options(folder, "parts"))
            for file, part, step in (("last.pt", "net", 5), ("best.pt", "model", 2)):
                whole, parts = (torch.load(folder / run / file, weights_only=False) for run in ("whole", "parts"))
                self.assertEqual(whole["step"], step)
                self.assertEqual(parts["step"], step, "which look was the best is known after a stop")
                for key, value in whole[part].items():
                    self.assertTrue(torch.equal(value, parts[part][key]), key)

    def test_a_run_ends_with_the_weights_that_held_out_people_find_best(self):
        """Looks are taken after steps 2, 3, 4 and 5."""
        for patience, scores, steps, best in ((2, (1, 9, 9, 7), [2, 3, 4, 5], 3), (1, (1, 9, 7), [2, 3, 4], 3),
                                              (2, (9, 8, 7), [2, 3, 4], 2)):
            scales = []  # at the marks, which are after steps 1, 2 and 3, and at the end

            def no_lags(net, scale, clips):
                scales.append({key: value.clone() for key, value in scale.state_dict().items()})
                for clip in clips:
                    clip.usable = True
                return []

            with tempfile.TemporaryDirectory() as folder, self.judged(*scores) as seen, \
                    mock.patch.object(train, "fit_calibration", lambda *_: {"made": 1}), \
                    mock.patch.object(train, "estimate_lags", no_lags), \
                    mock.patch.object(train, "PATIENCE", patience), contextlib.redirect_stdout(io.StringIO()) as said:
                folder = pathlib.Path(folder)
                self.write_clips(folder)
                train.train(self.options(folder, "run"))
                rows = [json.loads(row) for row in said.getvalue().splitlines()]
                self.assertEqual([row["step"] for row in rows if row["event"] == "look"], steps)
                kept = torch.load(folder / "run" / "best.pt", weights_only=False)
                self.assertEqual(kept["step"], best)
                self.assertEqual(rows[-1]["step"], best)
                self.assertEqual(kept["evidence"], scales[best - 1])
                for key, value in seen[steps.index(best)].items():
                    self.assertTrue(torch.equal(value, kept["model"][key]), key)
                train.train(self.options(folder, "run"))  # a run that has ended does nothing but end again
                again = torch.load(folder / "run" / "best.pt", weights_only=False)
                self.assertEqual(again["step"], best)


if __name__ == "__main__":
    torch.set_num_threads(1)
    unittest.main()
