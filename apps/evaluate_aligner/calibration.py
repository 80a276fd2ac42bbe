# Copyright 2026 The av_fusion authors. SPDX-License-Identifier: Apache-2.0
"""Part 4: is `confidence` the share of right answers, and does the interval hold the truth?

An answer is right within 40 ms of the truth. Answers for files that have no true offset are all
wrong. Sources of unknown lag are judged against the answer of the unshifted clip; that is no truth
of its own, so they have lines of their own and are not part of "all".
"""

import collections

import clips as clip_list
import scores
import tables
import windows

# `truth_ms` is None where any answer is wrong.
Answer = collections.namedtuple("Answer", "source length confidence truth_ms offset_ms "
                                          "interval_ms relative")

WHOLE = "whole file"
NEGATIVE = "no true offset"


def is_right(answer):
    return answer.truth_ms is not None and scores.is_hit(answer.offset_ms - answer.truth_ms)


def answers_of_row(arguments, row):
    """All answers of one row of parts 1 to 3."""
    if row["part"] == "windows":
        relative = clip_list.is_relative(arguments, row["clips"][0])
        found = [(length, window) for length in row["ticks"]
                 for window in windows.judged_windows(row, length)]
        answers = [Answer(row["source"], "%d frames" % length, window["confidence"],
                          window["truth_ms"], window["offset_ms"], window["interval_ms"], relative)
                   for length, window in found]
    elif row["part"] == "shifts":
        relative = clip_list.is_relative(arguments, row["clip"])
        answers = [] if relative else [Answer(row["source"], WHOLE, row["confidence"],
                                              row.get("shift_ms", 0.0), row["offset_ms"],
                                              row["interval_ms"], False)]
    else:
        answers = [Answer(row["source"], NEGATIVE, row["confidence"], None, row["offset_ms"],
                          row["interval_ms"], False)]
    return [answer for answer in answers
            if answer.offset_ms is not None and answer.confidence is not None]


def describe(name, answers):
    """One line about `answers`."""
    true = [answer for answer in answers if answer.truth_ms is not None and answer.interval_ms]
    return {
        "answers": name, "n": len(answers),
        "confidence": scores.mean([answer.confidence for answer in answers]),
        "right": scores.mean([float(is_right(answer)) for answer in answers]),
        "ece": scores.calibration_error([(answer.confidence, is_right(answer))
                                         for answer in answers]),
        "coverage": scores.mean([float(scores.covers(answer.interval_ms, answer.truth_ms))
                                 for answer in true]),
        "median_width_ms": scores.median([answer.interval_ms[1] - answer.interval_ms[0]
                                          for answer in true]),
    }


def tables_of(arguments, rows):
    answers = [answer for row in rows for answer in answers_of_row(arguments, row)]
    known = [answer for answer in answers if not answer.relative]
    lines = [describe("all", known)]
    for length in ["%d frames" % ticks for ticks in windows.WINDOW_TICKS] + [WHOLE, NEGATIVE]:
        lines.append(describe(length, [answer for answer in known if answer.length == length]))
    for source in sorted({answer.source for answer in answers}):
        for relative in (False, True):
            group = [answer for answer in answers
                     if answer.source == source and answer.relative == relative]
            if group:
                lines.append(describe(source + (" (relative)" if relative else ""), group))
    columns = [("answers", "answers", tables.text), ("n", "n", tables.text),
               ("confidence", "conf", tables.hundredths), ("right", "right", tables.percent),
               ("ece", "ECE", tables.thousandths), ("coverage", "95% interval", tables.percent),
               ("median_width_ms", "width ms", tables.fixed)]
    return [reliability_table(known),
            tables.Table("calibration: expected calibration error and interval", columns, lines)]


def reliability_table(answers):
    lines = scores.reliability([(answer.confidence, is_right(answer)) for answer in answers])
    columns = [("from", "from", tables.hundredths), ("to", "to", tables.hundredths),
               ("n", "n", tables.text), ("confidence", "conf", tables.hundredths),
               ("right", "right", tables.percent)]
    return tables.Table("reliability: confidence against the share of right answers", columns,
                        lines)
