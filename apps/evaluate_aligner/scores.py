# Copyright 2026 The av_fusion authors. SPDX-License-Identifier: Apache-2.0
"""Scores: hit rates, calibration error, average precision. Nothing here touches files."""

import statistics

HIT_MS = 40.0
FINE_HIT_MS = 10.0
LAG_STEP_MS = 10
TIE_MS = 1e-6  # rounding of float arithmetic must not turn a hit into a miss


def is_hit(error_ms, limit_ms=HIT_MS):
    return abs(error_ms) <= limit_ms + TIE_MS


def share(part, whole):
    return part / whole if whole else None


def mean(values):
    return statistics.fmean(values) if values else None


def median(values):
    return statistics.median(values) if values else None


def chance(truths_ms, max_offset_ms):
    """Share of hits of a guess at random among the lags searched, 10 ms apart."""
    lags = [LAG_STEP_MS * i for i in range(-(max_offset_ms // LAG_STEP_MS),
                                           max_offset_ms // LAG_STEP_MS + 1)]
    lucky = sum(is_hit(lag - truth) for truth in truths_ms for lag in lags)
    return share(lucky, len(truths_ms) * len(lags))


def accuracy(judged, max_offset_ms):
    """One line about `judged`: dicts with truth_ms, offset_ms, confidence, maybe floor_offset_ms.

    An offset of None, or none of the floor, is no answer, which counts as a miss.
    """
    answered = [one for one in judged if one["offset_ms"] is not None]
    errors = [one["offset_ms"] - one["truth_ms"] for one in answered]
    floors = [one["floor_offset_ms"] - one["truth_ms"] for one in judged
              if one.get("floor_offset_ms") is not None]
    hits = sum(is_hit(error) for error in errors)
    return {
        "n": len(judged),
        "answered": share(len(answered), len(judged)),
        "hit40": share(hits, len(judged)),
        "hit40_of_answered": share(hits, len(answered)),
        "hit10": share(sum(is_hit(error, FINE_HIT_MS) for error in errors), len(judged)),
        "median_abs_error_ms": median([abs(error) for error in errors]),
        "bias_ms": median(errors),
        "confidence": mean([one["confidence"] for one in answered
                            if one["confidence"] is not None]),
        "floor_hit40": share(sum(is_hit(error) for error in floors), len(judged)),
        "chance": chance([one["truth_ms"] for one in judged], max_offset_ms),
    }


# ---------------------------------------------------------------- calibration

def reliability(answers, bins=10):
    """Lines of the reliability table: `answers` are (confidence, right) with confidence 0 to 1."""
    lines = []
    for index in range(bins):
        inside = [(confidence, right) for confidence, right in answers
                  if min(int(confidence * bins), bins - 1) == index]
        lines.append({
            "from": index / bins, "to": (index + 1) / bins, "n": len(inside),
            "confidence": mean([confidence for confidence, _ in inside]),
            "right": mean([float(right) for _, right in inside]),
        })
    return lines


def calibration_error(answers, bins=10):
    """Expected calibration error: mean distance of confidence and share right, over the answers."""
    lines = [line for line in reliability(answers, bins) if line["n"]]
    total = sum(line["n"] for line in lines)
    return share(sum(line["n"] * abs(line["confidence"] - line["right"]) for line in lines), total)


def covers(interval_ms, truth_ms):
    return interval_ms[0] - TIE_MS <= truth_ms <= interval_ms[1] + TIE_MS


# ---------------------------------------------------------------- who speaks

def average_precision(scored):
    """Average precision of `scored`: pairs (score, is positive). None without a positive.

    The sum over the positives of precision at their rank, over their number. Equal scores are one
    step: their order must not matter.
    """
    positives = sum(1 for _, label in scored if label)
    if not positives:
        return None
    ranked = sorted(scored, key=lambda pair: -pair[0])
    total, found, seen, start = 0.0, 0, 0, 0
    while start < len(ranked):
        stop = start
        while stop < len(ranked) and ranked[stop][0] == ranked[start][0]:
            stop += 1
        hits = sum(1 for _, label in ranked[start:stop] if label)
        found += hits
        seen = stop
        total += hits * found / seen
        start = stop
    return total / positives
