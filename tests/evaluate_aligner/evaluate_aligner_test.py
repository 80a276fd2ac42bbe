# Copyright 2026 The av_fusion authors. SPDX-License-Identifier: Apache-2.0
"""What apps/evaluate_aligner computes without media files.

    python3 tests/evaluate_aligner/evaluate_aligner_test.py
"""

import argparse
import json
import math
import pathlib
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True  # leave nothing in the source tree
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "apps" / "evaluate_aligner"))

# pylint: disable=wrong-import-position
import calibration
import clips
import evaluate_aligner
import floor
import media
import refusal
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
        judged = windows.judge_windows(report, [face([1] * 50)], 25, (0.0, 2.0))
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
