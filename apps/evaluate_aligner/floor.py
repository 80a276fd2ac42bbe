# Copyright 2026 The av_fusion authors. SPDX-License-Identifier: Apache-2.0
"""The floor: what lip opening and loudness alone say, a method without learning.

It reads the feature files of extract_features, so it sees the same faces and sound as av_align.
"""

import array
import json
import math
import pathlib
import struct
import sys

LAG_STEP_MS = 10
MEL_LEAD = 200            # log-mel frames of a feature file before its first tick
MEL_PER_TICK = 4
OUTER_OPENING_COLUMN = 1  # of the lip geometry of a feature file


class Track:
    """One face of a feature file: a value every 40 ms of the lips, every 10 ms of the sound."""

    def __init__(self, first_tick, start_s, valid, opening, loudness, speech=(), box=None):
        self.first_tick = first_tick  # on the file's grid of 40 ms
        self.start_s = start_s        # of the first tick
        self.valid = valid            # whether the mouth is seen at a tick
        self.opening = opening
        self.loudness = loudness      # from MEL_LEAD frames before the first tick; None: no sound
        self.speech = speech          # as loudness: whether it is speech
        self.box = box                # (x, y, width, height) at the first tick


def read_safetensors(path):
    """All tensors of a file as {name: (dtype, shape, bytes)} and its metadata."""
    data = pathlib.Path(path).read_bytes()
    (header_size,) = struct.unpack("<Q", data[:8])
    header = json.loads(data[8:8 + header_size])
    body = memoryview(data)[8 + header_size:]
    metadata = header.pop("__metadata__", {})
    tensors = {name: (entry["dtype"], entry["shape"], body[slice(*entry["data_offsets"])])
               for name, entry in header.items()}
    return tensors, metadata


def numbers(tensor):
    """The elements of one tensor as a flat array."""
    dtype, _, raw = tensor
    values = array.array({"F32": "f", "F64": "d", "I32": "i", "I64": "q", "U8": "B"}[dtype])
    values.frombytes(raw.tobytes())
    if sys.byteorder == "big":
        values.byteswap()
    return values


def read_tracks(features):
    """The faces of a feature file, the longest first; none without a file."""
    if features is None:
        return []
    tensors, metadata = read_safetensors(features)
    return [read_track(tensors, metadata, "_%d" % index if index else "")
            for index in range(int(metadata["tracks"]))]


def read_track(tensors, metadata, suffix):
    geometry, columns = numbers(tensors["geometry" + suffix]), tensors["geometry" + suffix][1][1]
    mel, bands = numbers(tensors["mel" + suffix]), tensors["mel" + suffix][1][1]
    loudness = [sum(mel[i:i + bands]) / bands for i in range(0, len(mel), bands)]
    heard = numbers(tensors["mel_valid" + suffix])
    return Track(first_tick=int(metadata["first_tick" + suffix]),
                 start_s=int(metadata["first_tick_time_us" + suffix]) / 1e6,
                 valid=numbers(tensors["valid" + suffix]),
                 opening=geometry[OUTER_OPENING_COLUMN::columns],
                 loudness=[value if ok else None for value, ok in zip(loudness, heard)],
                 speech=numbers(tensors["speech" + suffix]),
                 box=[float(text) for text in metadata["first_box" + suffix].split()])


def loudness_of_file(tracks):
    """{10 ms frame on the file's grid: loudness} of all sound that the tracks know."""
    found = {}
    for track in tracks:
        first = MEL_PER_TICK * track.first_tick - MEL_LEAD
        found.update((first + index, value) for index, value in enumerate(track.loudness)
                     if value is not None)
    return found


def correlation(xs, ys):
    """Pearson's r of two equally long lists; 0 if one of them is constant."""
    count = len(xs)
    mean_x, mean_y = sum(xs) / count, sum(ys) / count
    sxx = sum((x - mean_x) ** 2 for x in xs)
    syy = sum((y - mean_y) ** 2 for y in ys)
    if sxx <= 0 or syy <= 0:
        return 0.0
    return sum((x - mean_x) * (y - mean_y) for x, y in zip(xs, ys)) / math.sqrt(sxx * syy)


def best_lag_ms(track, max_offset_ms, begin=0, end=None):
    """(correlation, lag) of the lag (sound late > 0) at which lips and loudness agree best.

    Only the ticks `begin` to `end` of the track are asked. A lag counts if half of the ticks that
    show the mouth have sound there. The lag is None where none counts.
    """
    end = len(track.valid) if end is None else min(end, len(track.valid))
    ticks = [i for i in range(max(0, begin), end) if track.valid[i]]
    best = (-2.0, None)
    for lag in range(-(max_offset_ms // LAG_STEP_MS), max_offset_ms // LAG_STEP_MS + 1):
        pairs = [(i, MEL_LEAD + MEL_PER_TICK * i + lag) for i in ticks]
        pairs = [(i, j) for i, j in pairs
                 if 0 <= j < len(track.loudness) and track.loudness[j] is not None]
        if len(pairs) < 3 or 2 * len(pairs) < len(ticks):
            continue
        r = correlation([track.opening[i] for i, _ in pairs],
                        [track.loudness[j] for _, j in pairs])
        if r > best[0]:
            best = (r, lag * LAG_STEP_MS)
    return best


def offset_ms(tracks, max_offset_ms, begin_tick=None, end_tick=None):
    """The floor's offset (sound early > 0) from the face that agrees best, or None.

    `begin_tick` and `end_tick` are ticks of the file's grid; without them the whole file is asked.
    """
    best = (-2.0, None)
    for track in tracks:
        begin = 0 if begin_tick is None else begin_tick - track.first_tick
        end = None if end_tick is None else end_tick - track.first_tick
        best = max(best, best_lag_ms(track, max_offset_ms, begin, end), key=lambda b: b[0])
    return None if best[1] is None else -best[1]


def agreement(track, tick, reach):
    """Correlation of lips and loudness at lag 0 from `reach` ticks before `tick` to as many after.

    `tick` is one of the file's grid. None where the face is not seen.
    """
    at = tick - track.first_tick
    if not 0 <= at < len(track.valid) or not track.valid[at]:
        return None
    pairs = []
    for i in range(max(0, at - reach), min(len(track.valid), at + reach + 1)):
        j = MEL_LEAD + MEL_PER_TICK * i
        if track.valid[i] and j < len(track.loudness) and track.loudness[j] is not None:
            pairs.append((track.opening[i], track.loudness[j]))
    if len(pairs) < 3:
        return None
    return correlation([x for x, _ in pairs], [y for _, y in pairs])
