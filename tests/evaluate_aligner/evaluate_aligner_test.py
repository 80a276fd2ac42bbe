# Copyright 2026 The av_fusion authors. SPDX-License-Identifier: Apache-2.0
"""What apps/evaluate_aligner computes without av_align; files are made where ffmpeg is at hand.

    python3 tests/evaluate_aligner/evaluate_aligner_test.py
"""

import argparse
import array
import contextlib
import io
import json
import math
import operator
import pathlib
import random
import shutil
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True  # leave nothing in the source tree
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "apps" / "evaluate_aligner"))

# pylint: disable=wrong-import-position
import calibration
import clips
import conditions
import evaluate_aligner
import floor
import media
import refusal
import robustness
import scores
import shifts
import who_speaks
import windows


def face(valid, first_tick=0, lag_ms=None):
    """A track; with a lag, its loudness is its lip opening that much later."""
    opening = [math.sin(0.9 * i) + math.sin(0.37 * i * i) for i in range(len(valid))]
    loudness = [0.0] * (2 * floor.MEL_LEAD + floor.MEL_PER_TICK * len(valid))
    if lag_ms is not None:
        for i, value in enumerate(opening):
            for step in range(floor.MEL_PER_TICK):
                loudness[floor.MEL_LEAD + floor.MEL_PER_TICK * i + step + lag_ms // 10 - 1] = value
    return floor.Track(first_tick=first_tick, start_s=first_tick * 0.04, valid=valid,
                       opening=opening, loudness=loudness)


def clip(path, duration_s=3.0, speaker="anne"):
    return clips.Clip(path, duration_s, speaker, clips.source_of(path))


class FilledWindows(unittest.TestCase):
    """Which windows count."""

    def count(self, tracks, length, span=(0.0, 1000.0)):
        return [begin for begin, _, _ in windows.filled_windows(tracks, length, span)]

    def test_lie_end_to_end_and_are_whole(self):
        self.assertEqual(self.count([face([1] * 76)], 25), [0, 25, 50])
        self.assertEqual(len(self.count([face([1] * 76)], 5)), 15)
        self.assertEqual(self.count([face([1] * 76)], 125), [])
        self.assertEqual(self.count([face([1] * 74)], 25), [0, 25])

    def test_begin_at_the_first_face(self):
        found = windows.filled_windows([face([1] * 50, first_tick=10)], 25, (0.0, 1000.0))
        self.assertEqual([begin for begin, _, _ in found], [10, 35])
        self.assertAlmostEqual(found[0][1], 0.4 + 0.5)
        faces = [face([1] * 50, first_tick=10), face([1] * 5, first_tick=2)]
        self.assertEqual(self.count(faces, 25), [27])

    def test_need_four_fifths_of_the_ticks(self):
        self.assertEqual(self.count([face([1, 1, 1, 1, 0] + [1, 1, 1, 0, 0])], 5), [0])

    def test_one_face_must_fill_the_window(self):
        halves = [face([1] * 15), face([1] * 10, first_tick=15)]
        self.assertEqual(self.count(halves, 25), [])

    def test_faces_that_fill_it_are_given(self):
        both = [face([1] * 25), face([1] * 25), face([1] * 5)]
        self.assertEqual(windows.filled_windows(both, 25, (0.0, 9.0))[0][2], both[:2])

    def test_without_own_sound_do_not_count(self):
        # Sound 400 ms late: the first 10 ticks are silent. 400 ms early: the last 10.
        track = face([1] * 75)
        self.assertEqual(self.count([track], 5, windows.heard(-400.0, 3.0))[0], 10)
        self.assertEqual(self.count([track], 5, windows.heard(400.0, 3.0))[-1], 60)
        self.assertEqual(self.count([], 5), [])


class JudgeWindows(unittest.TestCase):

    def test_a_window_the_timeline_leaves_out_is_kept_without_an_answer(self):
        report = {"timeline": [{"t_s": 0.5, "offset_ms": 7.0, "interval_ms": [0.0, 9.0],
                                "confidence": 0.8}]}
        judged = windows.judge_windows(report, [face([1] * 50)], 25, (0.0, 2.0), 0.0)
        self.assertEqual([window["offset_ms"] for window in judged], [7.0, None])

    def test_the_surest_face_answers(self):
        points = [{"t_s": 0.5, "confidence": 0.3}, {"t_s": 0.5, "confidence": 0.7},
                  {"t_s": 1.5, "confidence": 0.9}]
        self.assertEqual(windows.best_point(points, 0.5, 1.0), points[1])
        self.assertEqual(windows.best_point(points, 2.5, 1.0), {})

    def test_relative_truth_is_reference_plus_shift(self):
        row = {"reference_ms": 30.0, "shift_ms": -100.0, "windows": {"5": [{"offset_ms": -60.0}]}}
        self.assertEqual(windows.judged_windows(row, 5)[0]["truth_ms"], -70.0)
        self.assertEqual(windows.judged_windows(dict(row, reference_ms=None), 5), [])


    def test_the_floor_is_asked_in_each_window(self):
        track = face([1] * 100, lag_ms=120)
        for index in range(25):  # the first quarter of the lips comes 200 ms sooner
            track.opening[index] = track.opening[index + 5]
        judged = windows.judge_windows({"timeline": []}, [track], 25, (0.0, 4.0), 0.0)
        windows.add_floor(judged, [track], 25, (0.0, 4.0))
        for window, lag_ms in zip(judged, (-320, -120, -120, -120)):
            self.assertAlmostEqual(window["floor_offset_ms"], lag_ms, delta=20)
        self.assertEqual(len(judged), 4)


class Spoken(unittest.TestCase):
    """Which windows have speech in them."""

    def track(self, begin_tick, end_tick, soft=-9.0, first_tick=0):
        """A face of 50 ticks with loudness 0 between two of its ticks and `soft` elsewhere."""
        track = face([1] * 50, first_tick=first_tick)
        for frame in range(len(track.loudness)):
            tick = (frame - floor.MEL_LEAD) / floor.MEL_PER_TICK
            track.loudness[frame] = 0.0 if begin_tick <= tick < end_tick else soft
        return track

    def shares(self, track, truth_ms=0.0):
        judged = windows.judge_windows({"timeline": []}, [track], 25, (0.0, 99.0), truth_ms)
        return [window["spoken"] for window in judged]

    def test_is_the_share_of_loud_sound(self):
        self.assertEqual(self.shares(self.track(5, 40)), [0.8, 0.6])
        self.assertEqual(self.shares(self.track(5, 40, first_tick=7)), [0.8, 0.6])

    def test_loud_is_what_is_at_most_25_db_softer_than_the_loud_tenth(self):
        self.assertEqual(self.shares(self.track(0, 25, soft=-5.7)), [1.0, 1.0])
        self.assertEqual(self.shares(self.track(0, 25, soft=-5.9)), [1.0, 0.0])
        # 4 of 600 frames are no tenth.
        self.assertEqual(self.shares(self.track(0, 1, soft=-5.9)), [1.0, 1.0])

    def test_goes_with_the_sound_that_was_moved(self):
        early = self.track(0, 20)  # 200 ms early: spoken from tick 5 to tick 25 of the pictures
        self.assertEqual(self.shares(early, 200.0), [0.8, 0.0])
        self.assertEqual(self.shares(early, -200.0), [0.6, 0.0])

    def test_without_sound_is_not_spoken(self):
        track = self.track(0, 50)
        for frame in range(floor.MEL_LEAD, floor.MEL_LEAD + 50):
            track.loudness[frame] = None
        self.assertEqual(self.shares(track), [0.5, 1.0])
        track.loudness = [None] * len(track.loudness)
        self.assertEqual(self.shares(track), [0.0, 0.0])

    def test_every_face_tells_of_the_sound_of_the_file(self):
        both = [self.track(0, 50), face([1] * 5, first_tick=100)]
        self.assertEqual(windows.judge_windows({"timeline": []}, both, 25, (0.0, 99.0), 0.0)[0]
                         ["spoken"], 1.0)
        self.assertEqual(set(floor.loudness_of_file(both)), set(range(-200, 400 + 220)))

    def test_the_table_counts_windows_with_speech_by_themselves(self):
        judged = [{"offset_ms": offset, "spoken": share, "confidence": 0.5, "floor_offset_ms": None}
                  for offset, share in ((0.0, 1.0), (90.0, 0.5), (90.0, 0.49), (None, 0.0))]
        row = {"source": "a/b", "clips": ["a/b/1.mp4"], "ticks": [5], "reference_ms": 0.0,
               "shift_ms": 0.0, "windows": {"5": judged}}
        (table,) = windows.tables_of(argparse.Namespace(relative=[]), [row])
        line = table.lines[0]
        self.assertEqual((line["n"], line["hit40"]), (4, 0.25))
        self.assertEqual((line["n_spoken"], line["hit40_spoken"]), (2, 0.5))
        self.assertIsNone(table.lines[1]["hit40_spoken"])


class Stitches(unittest.TestCase):

    def ticks(self, count, length):
        parts = [clip("a/b/%d.mp4" % index) for index in range(count)]  # 75 ticks each
        return [len(part) for part in windows.stitches(parts, length)]

    def test_last_some_windows_and_leave_no_rest(self):
        self.assertEqual(self.ticks(10, 250), [10])
        self.assertEqual(self.ticks(10, 125), [5, 5])
        self.assertEqual(self.ticks(11, 125), [5, 6])

    def test_too_little_makes_no_window(self):
        self.assertEqual(self.ticks(3, 250), [])

    def test_never_mix_speakers_or_folders_and_never_relative_clips(self):
        parts = [clip("v/a/1.mp4"), clip("v/a/2.mp4"), clip("v/b/3.mp4"),
                 clip("v/a/4.mp4", speaker="bob"), clip("v/r/5.mp4"), clip("v/r/6.mp4")]
        jobs = windows.plan(argparse.Namespace(relative=["v/r"]), parts)
        stitched = [job["clips"] for job in jobs if len(job["clips"]) > 1]
        self.assertEqual(stitched, [["v/a/1.mp4", "v/a/2.mp4"]])
        self.assertEqual(jobs[0]["ticks"], [5, 15, 25, 50])


class Filters(unittest.TestCase):

    def test_early_sound_loses_its_beginning(self):
        self.assertEqual(media.shift_filter(80, 3.0),
                         "aresample=async=1:first_pts=0,atrim=start=0.080000,asetpts=PTS-STARTPTS,"
                         "apad=whole_dur=3.000000,atrim=end=3.000000")

    def test_late_sound_begins_with_silence(self):
        self.assertEqual(media.shift_filter(-80, 3.0),
                         "aresample=async=1:first_pts=0,adelay=delays=80:all=1,"
                         "apad=whole_dur=3.000000,atrim=end=3.000000")

    def test_whole_ticks(self):
        self.assertAlmostEqual(media.whole_ticks_s(3.0), 3.0)
        self.assertAlmostEqual(media.whole_ticks_s(2.999), 2.96)

    def test_a_part_ends_with_its_last_whole_picture(self):
        found = {"duration_s": 1.01, "fps": 25.0}
        picture, sound = media.part_filters(2, found, (320, 240))
        self.assertIn("[2:v:0]trim=end=0.961000,", picture)
        self.assertIn("atrim=end=1.000000", sound)

    def test_rates_are_converted_by_blending(self):
        self.assertEqual(shifts.rate_filter("30000/1001"),
                         "minterpolate=mi_mode=blend:fps=30000/1001")
        self.assertEqual(shifts.rate_filter(shifts.OWN_RATE), "null")


class Floor(unittest.TestCase):

    def test_finds_the_lag_and_its_sign(self):
        track = face([1] * 75, lag_ms=120)  # sound late
        self.assertAlmostEqual(floor.offset_ms([track], 600), -120, delta=20)

    def test_sees_only_the_window(self):
        track = face([1] * 100, lag_ms=120)
        for index in range(50):  # the first half of the lips comes 200 ms sooner
            track.opening[index] = track.opening[index + 5]
        self.assertAlmostEqual(floor.offset_ms([track], 600, 55, 100), -120, delta=20)
        self.assertAlmostEqual(floor.offset_ms([track], 600, 0, 45), -320, delta=20)

    def test_window_is_on_the_grid_of_the_file(self):
        track = face([1] * 50, first_tick=30, lag_ms=120)
        self.assertAlmostEqual(floor.offset_ms([track], 600, 30, 80), -120, delta=20)
        self.assertAlmostEqual(floor.offset_ms([track], 600, 30, 45), -120, delta=20)
        self.assertIsNone(floor.offset_ms([track], 600, 0, 30))

    def test_agreement_is_about_lag_zero(self):
        self.assertGreater(floor.agreement(face([1] * 50, lag_ms=0), 25, 12), 0.9)
        self.assertLess(floor.agreement(face([1] * 50, lag_ms=400), 25, 12), 0.6)
        self.assertIsNone(floor.agreement(face([0] * 50, lag_ms=0), 25, 12))

    def test_agreement_reaches_so_far_and_no_further(self):
        track = face([1] * 50, lag_ms=0)
        before = floor.agreement(track, 25, 12)
        track.opening[12] = track.opening[38] = 9.0
        self.assertEqual(floor.agreement(track, 25, 12), before)
        track.opening[13] = 9.0
        self.assertLess(floor.agreement(track, 25, 12), before - 0.1)


class Accuracy(unittest.TestCase):

    def test_no_answer_is_a_miss(self):
        judged = [{"truth_ms": 0.0, "offset_ms": offset, "confidence": 0.5, "floor_offset_ms": None}
                  for offset in (5.0, -40.0, 41.0, None)]
        line = scores.accuracy(judged, 600)
        self.assertEqual((line["n"], line["answered"], line["hit40"], line["hit10"]),
                         (4, 0.75, 0.5, 0.25))
        self.assertEqual((line["median_abs_error_ms"], line["bias_ms"]), (40.0, 5.0))
        self.assertEqual(line["floor_hit40"], 0.0)

    def test_chance_counts_lags_near_the_truth(self):
        self.assertAlmostEqual(scores.chance([0.0], 600), 9 / 121)
        self.assertAlmostEqual(scores.chance([600.0], 600), 5 / 121)

    def test_nothing_gives_no_numbers(self):
        self.assertIsNone(scores.accuracy([], 600)["hit40"])


class Calibration(unittest.TestCase):

    def test_perfect(self):
        answers = [(0.75, index < 3) for index in range(4)]
        self.assertAlmostEqual(scores.calibration_error(answers), 0.0)

    def test_weighs_bins_by_their_answers(self):
        answers = [(0.95, False)] + [(0.25, False)] * 3
        self.assertAlmostEqual(scores.calibration_error(answers), (0.95 + 3 * 0.25) / 4)

    def test_one_lies_in_the_last_bin(self):
        self.assertEqual(scores.reliability([(1.0, True)])[9]["n"], 1)
        self.assertEqual(scores.reliability([(0.0, True)])[0]["n"], 1)

    def test_any_answer_for_a_negative_is_wrong(self):
        row = {"part": "refusal", "source": "s", "confidence": 0.9, "offset_ms": 0.0,
               "interval_ms": [-5.0, 5.0]}
        (answer,) = calibration.answers_of_row(argparse.Namespace(relative=[]), row)
        self.assertFalse(calibration.is_right(answer))
        line = calibration.describe("negatives", [answer])
        self.assertEqual(line["right"], 0.0)
        self.assertIsNone(line["coverage"])
        refused = dict(row, offset_ms=None)
        self.assertEqual(calibration.answers_of_row(argparse.Namespace(relative=[]), refused), [])

    def test_coverage_and_width(self):
        answers = [calibration.Answer("s", "5 frames", 0.5, 0.0, 0.0, interval, False)
                   for interval in ([-5.0, 5.0], [1.0, 31.0])]
        line = calibration.describe("5 frames", answers)
        self.assertEqual((line["coverage"], line["median_width_ms"]), (0.5, 20.0))


class AveragePrecision(unittest.TestCase):

    def test_known_values(self):
        self.assertEqual(scores.average_precision([(0.9, 1), (0.1, 0)]), 1.0)
        self.assertEqual(scores.average_precision([(0.9, 0), (0.1, 1)]), 0.5)
        self.assertAlmostEqual(
            scores.average_precision([(0.9, 1), (0.8, 0), (0.7, 1)]), (1 + 2 / 3) / 2)

    def test_of_equal_scores_is_the_share_of_positives_in_any_order(self):
        for order in ([1, 0, 0, 0], [0, 0, 0, 1]):
            self.assertEqual(scores.average_precision([(0.0, label) for label in order]), 0.25)

    def test_without_positives(self):
        self.assertIsNone(scores.average_precision([(0.5, 0)]))


class WhoSpeaks(unittest.TestCase):

    def test_sides_and_spans(self):
        self.assertEqual(who_speaks.side_of([100, 0, 80, 80], 160), 0)
        self.assertEqual(who_speaks.side_of([140, 0, 80, 80], 160), 1)
        one = {"speaking": [{"start_s": 0.2, "end_s": 0.4, "probability": 0.7}]}
        self.assertEqual(who_speaks.speaking_score(one, 0.2), 0.7)
        self.assertEqual(who_speaks.speaking_score(one, 0.4), 0.0)

    def test_each_side_is_silent_while_the_other_is_heard(self):
        self.assertEqual(who_speaks.silent_times(0, 1.0), "gte(t,1.000000)*lt(t,2.000000)")
        self.assertEqual(who_speaks.silent_times(1, 1.0), "gte(t,0.000000)*lt(t,1.000000)")

    def test_right_face(self):
        row = {"ticks": [[[1, 0], [0.9, 0.2], [0.5, 0.1]], [[0, 1], [0.6, 0.3], [0.1, 0.5]],
                         [[1, 1], [0.9, 0.9], [0.5, 0.5]]]}
        line = who_speaks.describe([row])
        self.assertEqual((line["right_face"], line["face_ticks"]), (0.5, 6))
        self.assertEqual(who_speaks.prefers_speaker([0, 1], [0.4, 0.4]), 0.5)
        self.assertAlmostEqual(line["right"], 4 / 6)
        self.assertEqual(line["floor_average_precision"], 1.0)
        self.assertAlmostEqual(line["chance"], 4 / 6)


class Shifts(unittest.TestCase):

    def row(self, shift_ms, offset_ms):
        return {"source": "s", "clip": "c", "shift_ms": shift_ms, "offset_ms": offset_ms}

    def test_moved_needs_no_truth(self):
        rows = [self.row(0.0, 100.0), self.row(80.0, 175.0), self.row(320.0, 300.0)]
        line = shifts.moved_table(rows).lines[-1]
        self.assertEqual((line["n"], line["moved"], line["answers"]), (2, 0.5, 2))

    def test_rates_are_against_the_own_rate(self):
        rows = [{"source": "s", "clip": "c", "rate": rate, "offset_ms": offset}
                for rate, offset in ((shifts.OWN_RATE, 10.0), ("25", 14.0), ("60", None))]
        lines = {line["rate"]: line for line in shifts.rate_table(rows).lines}
        self.assertEqual((lines["25"]["median_ms"], lines["60"]["answered"]), (4.0, 0.0))


class Refusal(unittest.TestCase):

    def test_shares(self):
        rows = [{"kind": "silence", "status": "no_speech", "confidence": None},
                {"kind": "silence", "status": "ambiguous", "confidence": None},
                {"kind": "silence", "status": "measured", "confidence": 0.5},
                {"kind": "silence", "status": "measured", "confidence": 0.6}]
        line = refusal.describe(rows)
        self.assertEqual((line["measured"], line["measured_confidently"], line["right_status"]),
                         (0.5, 0.25, 0.25))

    def test_sounds_are_alike_at_any_lag(self):
        curve = [math.sin(0.13 * i) + math.sin(0.0031 * i * i) for i in range(300)]
        other = [math.sin(0.0047 * i * i) for i in range(300)]
        self.assertGreater(refusal.alike(curve, [0.0] * 50 + curve[:250]), refusal.SAME_SOUND)
        self.assertGreater(refusal.alike(curve[50:], curve), refusal.SAME_SOUND)
        self.assertLess(refusal.alike(curve, other), refusal.SAME_SOUND)

    def test_all_kinds_are_equally_many(self):
        people = [clip("a/b/1.mp4"), clip("a/b/2.mp4"), clip("a/b/3.mp4", speaker="bob")]
        jobs = refusal.plan(argparse.Namespace(negatives=200), people)
        counts = {kind: sum(job["kind"] == kind for job in jobs) for kind in refusal.KINDS}
        self.assertEqual(set(counts.values()), {19})


def people(count, duration_s=3.0):
    return tuple(clip("a/b/%d.mp4" % index, duration_s, "speaker %d" % index)
                 for index in range(count))


SETTINGS = robustness.Settings(None, None, ".", None, 1, 7)


class Robustness(unittest.TestCase):

    def row(self, condition, offsets, path="a/b/1.mp4", reference_ms=0.0):
        judged = [{"offset_ms": offset, "confidence": 0.5, "spoken": 1.0} for offset in offsets]
        return {"source": clips.source_of(path), "clips": [path], "ticks": [50], "shift_ms": 0.0,
                "reference_ms": reference_ms, "windows": {"50": judged}, "condition": condition}

    def lines(self, rows):
        (table,) = robustness.tables_of(argparse.Namespace(relative=["r"]), rows)
        return {(line["source"], line["condition"]): line for line in table.lines}

    def test_every_clip_of_2_s_has_every_condition_once(self):
        listed = people(5) + (clip("a/b/short.mp4", 1.9, "zoe"),)
        with contextlib.redirect_stderr(io.StringIO()) as said:
            jobs = robustness.plan(argparse.Namespace(), listed)
        names = {job["condition"] for job in jobs}
        self.assertLessEqual(set(conditions.NAMES) - names, set(conditions.CODECS))
        self.assertEqual(len(said.getvalue().splitlines()), len(set(conditions.NAMES) - names))
        self.assertEqual(len({job["key"] for job in jobs}), 5 * len(names))
        self.assertEqual(len(jobs), 5 * len(names))
        self.assertEqual({job["clips"][0] for job in jobs}, {one.path for one in people(5)})

    def test_the_choice_of_talkers_is_part_of_the_key(self):
        keys = [robustness.make_job(people(1)[0], name, pool)["key"]
                for name in ("babble 5 dB", "music 5 dB") for pool in ("one", "two")]
        self.assertEqual(len(set(keys)), 3)

    def test_babble_needs_speakers(self):
        with contextlib.redirect_stderr(io.StringIO()) as said:
            self.assertNotIn("babble 0 dB", conditions.possible(people(4)))
        self.assertIn("babble 0 dB is left out", said.getvalue())
        with contextlib.redirect_stderr(io.StringIO()):
            self.assertIn("babble 0 dB", conditions.possible(people(5)))

    def test_lines_by_source_and_of_all(self):
        lines = self.lines([self.row("clean", [0.0, 0.0]), self.row("side light", [0.0, None]),
                            self.row("side light", [90.0, 90.0], "c/d/1.mp4")])
        self.assertEqual(list(lines), [("a/b", "clean"), ("a/b", "side light"),
                                       ("c/d", "side light"), ("all sources", "clean"),
                                       ("all sources", "side light")])
        line = lines["all sources", "side light"]
        self.assertEqual((line["files"], line["n"], line["hit40"]), (2, 4, 0.25))
        self.assertNotIn("floor_hit40", line)

    def test_clean_is_of_the_same_files(self):
        lines = self.lines([self.row("clean", [0.0, 0.0]), self.row("clean", [90.0], "a/b/2.mp4"),
                            self.row("side light", [90.0, 90.0])])
        self.assertEqual(lines["a/b", "side light"]["clean_hit40"], 1.0)
        self.assertEqual(lines["a/b", "clean"]["clean_hit40"], 2 / 3)

    def test_a_relative_clip_is_judged_against_its_own_answer(self):
        lines = self.lines([self.row("clean", [100.0, 0.0], "r/1.mp4", 100.0),
                            self.row("clean", [1.0], "r/2.mp4", None)])
        line = lines["r (relative)", "clean"]
        self.assertEqual((line["n"], line["hit40"], line["no_reference"]), (2, 0.5, 1))

    def test_row_of_a_relative_clip(self):
        kept = robustness.clean_report, robustness.report_in, robustness.clean_tracks, \
            clips.read_clips
        report = {"offset_ms": 30.0, "timeline": [{"t_s": 1.0, "offset_ms": 70.0,
                                                   "interval_ms": [60.0, 80.0], "confidence": 0.9}]}
        try:
            robustness.clean_report = lambda settings, one: report
            robustness.report_in = lambda settings, listed, one, name: {"timeline": []}
            robustness.clean_tracks = lambda settings, one: ([face([1] * 75)], (0.0, 3.0))
            clips.read_clips = lambda arguments: list(people(1))
            arguments = argparse.Namespace(relative=["a"], **SETTINGS._asdict())
            rows = [robustness.evaluate(arguments, robustness.make_job(people(1)[0], name, "pool"))
                    for name in ("clean", "side light")]
        finally:
            robustness.clean_report, robustness.report_in, robustness.clean_tracks, \
                clips.read_clips = kept
        self.assertEqual([row["reference_ms"] for row in rows], [30.0, 30.0])
        self.assertEqual([row["windows"]["50"][0]["offset_ms"] for row in rows], [70.0, None])
        self.assertEqual(windows.judged_windows(rows[0], 50)[0]["truth_ms"], 30.0)


class SoundArithmetic(unittest.TestCase):

    def test_ratio_is_of_mean_power(self):
        rng = random.Random(1)
        sound, noise = ([rng.gauss(0, size) for _ in range(4000)] for size in (0.1, 0.7))
        for ratio_db in (20, 0):
            both = conditions.mixed(sound, noise, ratio_db)
            added = [one - other for one, other in zip(both, sound)]
            found = 10 * math.log10(conditions.power(sound) / conditions.power(added))
            self.assertAlmostEqual(found, ratio_db, delta=0.01)
        with self.assertRaises(RuntimeError):
            conditions.mixed([0.0] * 9, noise[:9], 0)

    def test_parts_are_equally_strong(self):
        self.assertEqual(list(conditions.sum_of_equals([[2.0, -2.0], [0.5, 0.5]])), [2.0, 0.0])

    def test_lengths(self):
        sound = array.array("f", [1, 2, 3])
        self.assertEqual(list(conditions.fit(sound, 2)), [1, 2])
        self.assertEqual(list(conditions.fit(sound, 5)), [1, 2, 3, 0, 0])
        self.assertEqual(list(conditions.rounds(sound, 1, 7)), [2, 3, 1, 2, 3, 1, 2])

    def test_a_room_has_direct_sound_first_and_loses_60_db(self):
        heard = conditions.room(random.Random(1))
        self.assertGreater(heard[0], 5 * max(map(abs, heard[1:])))
        self.assertAlmostEqual(sum(value * value for value in heard[1:]), 1.0)
        half = len(heard) // 2
        drop = conditions.power(heard[1:1000]) / conditions.power(heard[1 + half:1000 + half])
        self.assertAlmostEqual(10 * math.log10(drop), 30.0, delta=1.5)


def same_voice_lag_ms(sound, other):
    """(lag in ms, correlation) at which `other` is most like a quarter second of `sound`."""
    sound, other = sound[::2], other[::2]  # 8 kHz
    begin, count, reach = 8000, 2000, 640
    piece = sound[begin:begin + count]
    size = math.sqrt(sum(value * value for value in piece))
    best = (-1.0, 0)
    for lag in range(-reach, reach + 1):
        there = other[begin + lag:begin + lag + count]
        product = sum(map(operator.mul, piece, there))
        best = max(best, (product / size, lag))
    there = other[begin + best[1]:begin + best[1] + count]
    return best[1] / 8.0, best[0] / math.sqrt(sum(value * value for value in there))


@unittest.skipUnless(shutil.which("ffmpeg") and shutil.which("ffprobe"), "needs ffmpeg")
class ConditionFiles(unittest.TestCase):
    """The files of the part robustness, made of voices and pictures that are made here."""

    @classmethod
    def setUpClass(cls):
        cls.scratch = tempfile.TemporaryDirectory()
        cls.folder = pathlib.Path(cls.scratch.name)
        cls.clips = people(6)
        settings = SETTINGS._replace(data=cls.scratch.name)
        (cls.folder / "a" / "b").mkdir(parents=True)
        for index, one in enumerate(cls.clips):
            cls.write_clip(index, cls.folder / one.path)
        cls.maker = conditions.Maker(settings, cls.clips, cls.clips[0], cls.folder)
        with contextlib.redirect_stderr(io.StringIO()):
            cls.made = {name: cls.make(name) for name in conditions.possible(cls.clips)}
        cls.clean = cls.made["clean"]

    @classmethod
    def tearDownClass(cls):
        cls.scratch.cleanup()

    @classmethod
    def write_clip(cls, index, output):
        """3 s of smooth noise with syllables; the picture begins 80 ms after the sound."""
        rng = random.Random(index)
        sound, value, rate = [], 0.0, rng.uniform(15, 30)
        for i in range(3 * media.SOUND_HZ):
            value = 0.7 * value + 0.05 * rng.gauss(0, 1)
            sound.append(value * (1.2 + math.sin(rate * i / media.SOUND_HZ)))
        media.ffmpeg(media.sound_input(sound, cls.folder / "voice.raw")
                     + ["-f", "lavfi", "-itsoffset", "0.08", "-i",
                        "testsrc2=size=160x120:rate=25:duration=2.92", "-map", "1:v", "-map", "0:a"]
                     + media.CODE_PICTURE + ["-c:a", "aac", "-b:a", "128k"], output, "mp4")

    @classmethod
    def make(cls, name):
        output = cls.folder / (name.replace("/", " ") + ".mkv")
        conditions.make(cls.maker, name, output)
        return output

    def picture_times(self, file):
        done = media.run(["ffprobe", "-v", "error", "-select_streams", "v:0", "-show_entries",
                          "packet=pts_time", "-of", "csv=p=0", str(file)])
        return sorted(float(text.strip(",")) for text in done.stdout.decode().split())

    def rows_of_picture(self, file):
        """The first picture as rows of brightness."""
        found = media.probe(file)
        done = media.run(["ffmpeg", "-v", "error", "-i", str(file), "-map", "0:v:0", "-frames:v",
                          "1", "-f", "rawvideo", "-pix_fmt", "rgb24", "-"])
        width = 3 * found["width"]
        return [done.stdout[i:i + width] for i in range(0, len(done.stdout), width)]

    def test_neither_sound_nor_picture_moves(self):
        clean = media.read_sound(self.clean)
        times = self.picture_times(self.clean)
        self.assertAlmostEqual(times[0], 0.08, delta=0.0011)
        for name, file in self.made.items():
            with self.subTest(name):
                sound = media.read_sound(file)
                lag_ms, alike = same_voice_lag_ms(clean, sound)
                self.assertLess(abs(lag_ms), 1.0)
                self.assertGreater(alike, 0.5)
                self.assertAlmostEqual(len(sound), len(clean), delta=16)
                for one, other in zip(times, self.picture_times(file)):
                    self.assertAlmostEqual(one, other, delta=0.0011)
                self.assertEqual(len(times), len(self.picture_times(file)))

    def changes(self, file):
        """What changes from picture to picture, in 300 places."""
        done = media.run(["ffmpeg", "-v", "error", "-i", str(file), "-map", "0:v:0", "-vf",
                          "scale=20:15", "-fps_mode", "passthrough", "-f", "rawvideo", "-pix_fmt",
                          "gray", "-"])
        return [after - before for before, after in zip(done.stdout, done.stdout[300:])]

    def test_what_the_picture_shows_does_not_move(self):
        clean = self.changes(self.clean)
        for name in conditions.PICTURES:
            changes = self.changes(self.made[name])
            alike = {lag: floor.correlation(
                clean[900:-900], changes[900 + 300 * lag:len(changes) - 900 + 300 * lag])
                     for lag in range(-3, 4)}
            with self.subTest(name):
                self.assertEqual(max(alike, key=alike.get), 0)
                self.assertGreater(alike[0], 0.7)

    def test_every_condition_of_sound_changes_the_sound_and_no_other_does(self):
        clean = media.read_sound(self.clean)
        for name, file in self.made.items():
            sound = media.read_sound(file)
            changed = conditions.power([a - b for a, b in zip(sound, clean)])
            with self.subTest(name):
                if name in conditions.SOUNDS:
                    self.assertGreater(changed, 1e-4 * conditions.power(clean))
                else:
                    self.assertLess(changed, 1e-6 * conditions.power(clean))

    def test_noise_of_files_has_the_ratio(self):
        clean = media.read_sound(self.clean)
        for name, ratio_db in (("babble 20 dB", 20), ("babble 5 dB", 5), ("music 10 dB", 10)):
            sound = media.read_sound(self.made[name])
            # What the file has of the clean sound, whatever it was scaled by, and the rest.
            scale = sum(map(operator.mul, sound, clean)) / sum(map(operator.mul, clean, clean))
            rest = [one - scale * other for one, other in zip(sound, clean)]
            ratio = scale * scale * conditions.power(clean) / conditions.power(rest)
            self.assertAlmostEqual(10 * math.log10(ratio), ratio_db, delta=0.5)

    def talkers(self, seed, listed):
        return conditions.talkers_for(conditions.Maker(self.maker.settings._replace(seed=seed),
                                                       listed, self.clips[0], self.folder))

    def test_babble_is_of_other_speakers(self):
        # The speaker of this clip has other clips too, and another speaker has two.
        own, twice = (self.clips[index]._replace(speaker=self.clips[other].speaker)
                      for index, other in ((1, 0), (2, 3)))
        chosen = [self.talkers(seed, self.clips + (own, twice)) for seed in (3, 4, 5, 6)]
        for talkers in chosen:
            speakers = {talker.speaker for talker in talkers}
            self.assertNotIn(self.clips[0].speaker, speakers)
            self.assertEqual(len(speakers), len(talkers))
        self.assertEqual({len(talkers) for talkers in chosen}, {3, 4})
        self.assertEqual(chosen[0], self.talkers(3, self.clips + (own, twice)))

    def test_babble_leaves_out_the_own_sound_under_another_name(self):
        copies = (self.clips[0]._replace(speaker="copy"),) + self.clips[:4]
        for seed in range(3):
            try:
                self.assertNotIn("copy", [one.speaker for one in self.talkers(seed, copies)])
            except RuntimeError as error:  # four were wanted
                self.assertIn("too few", str(error))

    def test_a_telephone_passes_its_band_only(self):
        def strength(hertz):
            tone = [0.3 * math.sin(2 * math.pi * hertz * i / media.SOUND_HZ) for i in range(16000)]
            heard = conditions.telephone(self.maker, tone)[4000:12000]
            return 10 * math.log10(1e-9 + conditions.power(heard) / conditions.power(tone))
        self.assertGreater(strength(1000), -1)
        self.assertLess(strength(100), -12)
        self.assertLess(strength(5000), -30)

    def test_reverberation_convolves(self):
        click = [0.0] * 4000 + [0.5] + [0.0] * 16000
        heard = conditions.reverberation(self.maker, click)
        self.assertEqual(max(range(len(heard)), key=lambda i: heard[i]), 4000)
        self.assertLess(conditions.power(heard[:3990]), 1e-9)
        room = conditions.room(self.maker.random("room"))
        for index in (1, 100, 4000):
            self.assertAlmostEqual(heard[4000 + index] / heard[4000], room[index], delta=1e-4)
        self.assertAlmostEqual(conditions.power(heard) / conditions.power(click), 1.0, delta=0.001)

    def test_pictures(self):
        small = media.probe(self.made["small picture"])
        self.assertEqual((small["width"], small["height"]), (40, 30))
        sound = 3 * 2 * media.SOUND_HZ  # bytes
        strong, clean = (self.made[name].stat().st_size - sound
                         for name in ("strong compression", "clean"))
        self.assertLess(3 * strong, clean)

    def test_side_light_falls_linearly(self):
        grey = self.folder / "grey.mkv"
        media.ffmpeg(["-f", "lavfi", "-i", "color=0x808080:size=160x120:rate=25:duration=0.2", "-f",
                      "lavfi", "-i", "anullsrc=sample_rate=16000:duration=0.2"]
                     + media.CODE_PICTURE + media.CODE_SOUND, grey)
        lit = self.folder / "lit.mkv"
        conditions.side_light(grey, lit)
        row = self.rows_of_picture(lit)[60]
        for x, factor in ((1, 1.19), (80, 0.72), (158, 0.256)):
            for band in range(3):
                self.assertAlmostEqual(row[3 * x + band] / 128, factor, delta=0.04)


class ResultFile(unittest.TestCase):

    def test_goes_on_where_it_stopped_and_refuses_another_identity(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "result.json"
            self.assertEqual(evaluate_aligner.load_rows(path, {"seed": 1}), [])
            row = {"part": "windows", "key": "k"}
            evaluate_aligner.save(path, {"seed": 1}, [row], {"windows": {"title": []}})
            self.assertEqual(json.loads(path.read_text())["tables"], {"windows": {"title": []}})
            self.assertEqual(evaluate_aligner.load_rows(path, {"seed": 1}), [row])
            with self.assertRaises(RuntimeError):
                evaluate_aligner.load_rows(path, {"seed": 2})

    def test_random_choices_depend_on_seed_and_file_only(self):
        def draw(seed, key):
            return clips.random_for(argparse.Namespace(seed=seed), key).random()
        self.assertEqual(draw(1, "a"), draw(1, "a"))
        self.assertNotEqual(draw(1, "a"), draw(1, "b"))
        self.assertNotEqual(draw(1, "a"), draw(2, "a"))

    def test_a_limit_spreads(self):
        self.assertEqual(evaluate_aligner.spread(list(range(10)), 3), [0, 3, 6])
        self.assertEqual(evaluate_aligner.spread([1, 2], None), [1, 2])


if __name__ == "__main__":
    unittest.main()
