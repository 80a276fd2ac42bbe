# Copyright 2026 The av_fusion authors. SPDX-License-Identifier: Apache-2.0
"""Part 1: how often the lag of a window of 0.2 to 10 s is found.

Windows are the stretches of the report's timeline, end to end. A window counts if one face shows
its mouth at four fifths of its ticks or more; that the timeline leaves it out is a miss. Where
several faces do, the answer is that of the highest confidence, and the floor may choose as freely.

`spoken` is the share of a window's own sound, in frames of 10 ms, that is at most 25 dB softer than
the loud tenth of the file. Where the sound was moved, a window's own sound is so much elsewhere.
"""

import math
import pathlib

import clips as clip_list
import floor
import media
import scores
import tables

WINDOW_TICKS = (5, 15, 25, 50, 125, 250)
MAX_OFFSET_MS = 600
MAX_SHIFT_MS = 400      # of the shifts injected where the true lag is unknown
FILLED = 0.8
SPOKEN_NATS = 5.8       # 25 dB of power
SPOKEN = 0.5            # windows with so much speech or more have columns of their own
WINDOWS_A_FILE = 3      # stitched files are about so many windows long


# ---------------------------------------------------------------- what to do

def plan(arguments, clips):
    """One job for each clip, and for each stitched file of a window longer than its clips."""
    jobs = []
    for clip in clips:
        lengths = [n for n in WINDOW_TICKS if ticks_in(clip.duration_s) >= n]
        jobs.append(make_job([clip], lengths))
    known = [clip for clip in clips if not clip_list.is_relative(arguments, clip.path)]
    for length in WINDOW_TICKS:
        short = [clip for clip in known if ticks_in(clip.duration_s) < length]
        for group in clip_list.by_speaker(short).values():
            jobs += [make_job(parts, [length]) for parts in stitches(group, length)]
    return jobs


def make_job(parts, lengths):
    paths = [part.path for part in parts]
    return {"part": "windows", "key": "+".join(paths) + " " + ",".join(map(str, lengths)),
            "clips": paths, "source": parts[0].source, "ticks": lengths}


def ticks_in(duration_s):
    return int(duration_s / media.TICK_S + 1e-6)


def stitches(clips, length):
    """Cuts `clips` of one speaker into lists that together last a few windows of `length` ticks.

    What is left at the end joins the last list; clips that make no window are left out.
    """
    lists, ticks = [[]], 0
    for clip in clips:
        if ticks >= WINDOWS_A_FILE * length:
            lists.append([])
            ticks = 0
        lists[-1].append(clip)
        ticks += ticks_in(clip.duration_s)
    if ticks < length:
        rest = lists.pop()
        if lists:
            lists[-1] += rest
    return lists


# ---------------------------------------------------------------- one file

def evaluate(arguments, job):
    """One row of the result file: whole answer and windows of one file."""
    row = dict(job, shift_ms=0.0, reference_ms=0.0)
    sources = [pathlib.Path(arguments.data) / path for path in job["clips"]]
    with media.scratch_folder() as folder:
        file = pathlib.Path(folder) / "window.mkv"
        if len(sources) > 1:
            media.make_stitched(sources, file)
        elif clip_list.is_relative(arguments, job["clips"][0]):
            inject_shift(arguments, row, sources[0], file)
        else:
            media.make_shifted(sources[0], 0.0, file)
        judge_file(arguments, row, file, folder)
    return row


def inject_shift(arguments, row, source, file):
    """Moves the sound by a seeded shift; the answer without it is the reference of this clip."""
    media.make_shifted(source, 0.0, file)
    row["reference_ms"] = media.align(arguments, file, MAX_OFFSET_MS)["offset_ms"]
    steps = MAX_SHIFT_MS // scores.LAG_STEP_MS
    row["shift_ms"] = float(scores.LAG_STEP_MS * clip_list.random_for(
        arguments, "shift of " + row["clips"][0]).randint(-steps, steps))
    media.make_shifted(source, row["shift_ms"], file)


def judge_file(arguments, row, file, folder):
    tracks = floor.read_tracks(media.extract(arguments, file, folder))
    span = heard(row["shift_ms"], media.probe(file)["duration_s"])
    row["windows"] = {}
    for length in row["ticks"]:
        report = media.align(arguments, file, MAX_OFFSET_MS, length * media.TICK_S)
        if "whole" not in row:
            row["whole"] = media.answer(report)
            row["whole"]["floor_offset_ms"] = floor.offset_ms(tracks, MAX_OFFSET_MS)
        judged = judge_windows(report, tracks, length, span, truth_of(row))
        add_floor(judged, tracks, length, span)
        row["windows"][str(length)] = judged


def truth_of(row):
    """The offset that is right for this file; that of the shift alone if there is no reference."""
    return (row["reference_ms"] or 0.0) + row["shift_ms"]


def heard(shift_ms, duration_s):
    """Begin and end of the pictures whose own sound is in a shifted file, in seconds."""
    return max(0.0, -shift_ms / 1000.0), duration_s - max(0.0, shift_ms / 1000.0)


def judge_windows(report, tracks, length, span, truth_ms):
    """Every window that counts, with the answer of the timeline."""
    loudness = floor.loudness_of_file(tracks)
    judged = []
    for first_tick, middle_s, _ in filled_windows(tracks, length, span):
        point = best_point(report["timeline"], middle_s, length * media.TICK_S)
        judged.append({
            "t_s": round(middle_s, 3), "offset_ms": point.get("offset_ms"),
            "interval_ms": point.get("interval_ms"), "confidence": point.get("confidence"),
            "spoken": round(spoken(loudness, first_tick, length, truth_ms), 3)})
    return judged


def add_floor(judged, tracks, length, span):
    """Adds the answer of the floor to the windows that judge_windows found."""
    for window, (first_tick, _, faces) in zip(judged, filled_windows(tracks, length, span)):
        window["floor_offset_ms"] = floor.offset_ms(faces, MAX_OFFSET_MS, first_tick,
                                                    first_tick + length)


def spoken(loudness, first_tick, length, truth_ms):
    """Share of the sound frames of a window that are loud. Sound that is not there is not loud."""
    if not loudness:
        return 0.0
    ranked = sorted(loudness.values())
    enough = ranked[int(0.9 * (len(ranked) - 1))] - SPOKEN_NATS
    # Sound that is early lies before its picture.
    first = floor.MEL_PER_TICK * first_tick - round(truth_ms / floor.LAG_STEP_MS)
    frames = range(first, first + floor.MEL_PER_TICK * length)
    return sum(loudness.get(frame, -math.inf) >= enough for frame in frames) / len(frames)


def filled_windows(tracks, length, span):
    """(first tick, middle in seconds, faces) of the windows of `length` ticks that count.

    Windows lie end to end from the first tick of any face, as av_align has them. They lie within
    `span`, in seconds, whole.
    """
    if not tracks:
        return []
    first = min(tracks, key=lambda track: track.first_tick)
    last = max(track.first_tick + len(track.valid) for track in tracks)
    windows = []
    for begin in range(first.first_tick, last - length + 1, length):
        begin_s = first.start_s + (begin - first.first_tick) * media.TICK_S
        end_s = begin_s + length * media.TICK_S
        # Ticks reach half a tick beyond the first and last picture.
        if begin_s < span[0] - media.TICK_S / 2 or end_s > span[1] + media.TICK_S / 2:
            continue
        faces = [track for track in tracks
                 if ticks_seen(track, begin, begin + length) >= FILLED * length - 1e-9]
        if faces:
            windows.append((begin, (begin_s + end_s) / 2, faces))
    return windows


def ticks_seen(track, begin, end):
    begin, end = max(0, begin - track.first_tick), max(0, end - track.first_tick)
    return sum(1 for ok in track.valid[begin:end] if ok)


def best_point(timeline, middle_s, window_s):
    """The point of the timeline that lies in this window, the surest of several; {} if none."""
    inside = [point for point in timeline if abs(point["t_s"] - middle_s) < window_s / 2]
    return max(inside, key=lambda point: point["confidence"] or 0.0, default={})


# ---------------------------------------------------------------- tables

def judged_windows(row, length):
    """The windows of one row with their truth; none where the unshifted clip gave no answer."""
    if row["reference_ms"] is None:
        return []
    return [dict(window, truth_ms=truth_of(row)) for window in row["windows"].get(str(length), [])]


def describe(rows, length):
    """The files, windows and hit rates of the windows of `length` ticks."""
    judged = [window for row in rows for window in judged_windows(row, length)]
    line = {"files": sum(bool(judged_windows(row, length)) for row in rows),
            "no_reference": sum(row["reference_ms"] is None for row in rows
                                if length in row["ticks"])}
    line.update(scores.accuracy(judged, MAX_OFFSET_MS))
    return line


def describe_spoken(rows, length):
    """The number of windows with enough speech, and their hit rate."""
    line = scores.accuracy([window for row in rows for window in judged_windows(row, length)
                            if window["spoken"] >= SPOKEN], MAX_OFFSET_MS)
    return {"n_spoken": line["n"], "hit40_spoken": line["hit40"]}


def name_of(arguments, rows):
    """The source of `rows`, and whether only changes of its answers are judged."""
    relative = clip_list.is_relative(arguments, rows[0]["clips"][0])
    return rows[0]["source"] + (" (relative)" if relative else "")


FILE_COLUMNS = [("files", "files", tables.text), ("no_reference", "no ref", tables.text)]


def tables_of(arguments, rows):
    lines = []
    for source in sorted({row["source"] for row in rows}):
        of_source = [row for row in rows if row["source"] == source]
        for length in WINDOW_TICKS:
            line = {"source": name_of(arguments, of_source), "frames": length}
            line.update(describe(of_source, length), **describe_spoken(of_source, length))
            lines.append(line)
    columns = [("source", "source", tables.text), ("frames", "frames", tables.text)]
    columns += FILE_COLUMNS + tables.ACCURACY_COLUMNS
    columns += [("n_spoken", "n sp", tables.text), ("hit40_spoken", "hit40 sp", tables.percent)]
    return [tables.Table("windows: lag of a window, candidates -%d to %d ms"
                         % (MAX_OFFSET_MS, MAX_OFFSET_MS), columns, lines)]
