# Copyright 2026 The av_fusion authors. SPDX-License-Identifier: Apache-2.0
"""Part 1: how often the lag of a window of 0.2 to 10 s is found.

Windows are the stretches of the report's timeline, end to end. A window counts if one face shows
its mouth at four fifths of its ticks or more; that the timeline leaves it out is a miss. Where
several faces do, the answer is that of the highest confidence, and the floor may choose as freely.
"""

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
    duration_s = media.probe(file)["duration_s"]
    row["windows"] = {}
    for length in row["ticks"]:
        report = media.align(arguments, file, MAX_OFFSET_MS, length * media.TICK_S)
        if "whole" not in row:
            row["whole"] = media.answer(report)
            row["whole"]["floor_offset_ms"] = floor.offset_ms(tracks, MAX_OFFSET_MS)
        row["windows"][str(length)] = judge_windows(report, tracks, length,
                                                    heard(row["shift_ms"], duration_s))


def heard(shift_ms, duration_s):
    """Begin and end of the pictures whose own sound is in a shifted file, in seconds."""
    return max(0.0, -shift_ms / 1000.0), duration_s - max(0.0, shift_ms / 1000.0)


def judge_windows(report, tracks, length, span):
    """Every window that counts, with the answer of the timeline and of the floor."""
    judged = []
    for first_tick, middle_s, faces in filled_windows(tracks, length, span):
        point = best_point(report["timeline"], middle_s, length * media.TICK_S)
        judged.append({
            "t_s": round(middle_s, 3), "offset_ms": point.get("offset_ms"),
            "interval_ms": point.get("interval_ms"), "confidence": point.get("confidence"),
            "floor_offset_ms": floor.offset_ms(faces, MAX_OFFSET_MS, first_tick,
                                               first_tick + length)})
    return judged


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
    truth_ms = row["reference_ms"] + row["shift_ms"]
    return [dict(window, truth_ms=truth_ms) for window in row["windows"].get(str(length), [])]


def tables_of(arguments, rows):
    lines = []
    for source in sorted({row["source"] for row in rows}):
        of_source = [row for row in rows if row["source"] == source]
        relative = clip_list.is_relative(arguments, of_source[0]["clips"][0])
        for length in WINDOW_TICKS:
            judged = [window for row in of_source for window in judged_windows(row, length)]
            line = {"source": source + (" (relative)" if relative else ""), "frames": length,
                    "files": sum(bool(judged_windows(row, length)) for row in of_source),
                    "no_reference": sum(row["reference_ms"] is None for row in of_source
                                        if length in row["ticks"])}
            line.update(scores.accuracy(judged, MAX_OFFSET_MS))
            lines.append(line)
    columns = [("source", "source", tables.text), ("frames", "frames", tables.text),
               ("files", "files", tables.text),
               ("no_reference", "no ref", tables.text)] + tables.ACCURACY_COLUMNS
    return [tables.Table("windows: lag of a window, candidates -%d to %d ms"
                         % (MAX_OFFSET_MS, MAX_OFFSET_MS), columns, lines)]
