# Copyright 2026 The av_fusion authors. SPDX-License-Identifier: Apache-2.0
"""Part 6: how often the lag of a window of 2 s is found where sound or picture are worse.

The windows are those of the clip as it is, even if the face is not found in the worse picture:
that is a miss. A clip of unknown lag is judged against the answer for the whole clip as it is.
"""

import collections
import functools
import pathlib

import clips as clip_list
import conditions
import floor
import media
import tables
import windows

LENGTH = 50  # ticks of a window
ALL = "all sources"

# Of the command line, what the files and answers of this part depend on. It can be a key.
Settings = collections.namedtuple("Settings", "av_align extract data model threads seed")


# ---------------------------------------------------------------- what to do

def plan(arguments, clips):
    """One job for each clip of 2 s or more and each condition."""
    names = conditions.possible(clips)
    pool = clip_list.name_of_list(clips)
    return [make_job(clip, name, pool) for clip in clips
            if windows.ticks_in(clip.duration_s) >= LENGTH for name in names]


def make_job(clip, condition, pool):
    key = "%s %s" % (clip.path, condition)
    if condition.startswith(conditions.babble.__name__):
        key += " of " + pool
    return {"part": "robustness", "key": key, "clips": [clip.path], "source": clip.source,
            "condition": condition, "ticks": [LENGTH]}


# ---------------------------------------------------------------- one file

def evaluate(arguments, job):
    """One row of the result file: whole answer and windows of one clip in one condition."""
    settings = Settings(*(getattr(arguments, name) for name in Settings._fields))
    clips = tuple(clip_list.read_clips(arguments))
    clip = next(one for one in clips if one.path == job["clips"][0])
    row = dict(job, shift_ms=0.0, reference_ms=0.0)
    if clip_list.is_relative(arguments, clip.path):
        row["reference_ms"] = clean_report(settings, clip)["offset_ms"]
    if job["condition"] == conditions.CLEAN:
        report = clean_report(settings, clip)
    else:
        report = report_in(settings, clips, clip, job["condition"])
    tracks, span = clean_tracks(settings, clip)
    row["whole"] = media.answer(report)
    row["windows"] = {str(LENGTH): windows.judge_windows(report, tracks, LENGTH, span,
                                                         windows.truth_of(row))}
    return row


def report_in(settings, clips, clip, condition):
    """The report for a clip in a condition."""
    with media.scratch_folder() as folder:
        file = pathlib.Path(folder) / "worse.mkv"
        conditions.make(conditions.Maker(settings, clips, clip, folder), condition, file)
        return media.align(settings, file, windows.MAX_OFFSET_MS, LENGTH * media.TICK_S)


@functools.lru_cache(maxsize=8)
def clean_report(settings, clip):
    return report_in(settings, (), clip, conditions.CLEAN)


@functools.lru_cache(maxsize=8)
def clean_tracks(settings, clip):
    """The faces of a clip as it is, and the begin and end of its windows in seconds."""
    with media.scratch_folder() as folder:
        file = pathlib.Path(folder) / "clean.mkv"
        conditions.make(conditions.Maker(settings, (), clip, folder), conditions.CLEAN, file)
        return (floor.read_tracks(media.extract(settings, file, folder)),
                windows.heard(0.0, media.probe(file)["duration_s"]))


# ---------------------------------------------------------------- tables

def tables_of(arguments, rows):
    """A line for each source and condition, then for each condition of all sources."""
    lines = []
    for source in sorted({row["source"] for row in rows}):
        of_source = [row for row in rows if row["source"] == source]
        lines += lines_of(windows.name_of(arguments, of_source), of_source)
    lines += lines_of(ALL, rows)
    columns = [("source", "source", tables.text), ("condition", "condition", tables.text)]
    columns += windows.FILE_COLUMNS + [("clean_hit40", "clean", tables.percent)]
    columns += [column for column in tables.ACCURACY_COLUMNS if column[0] != "floor_hit40"]
    return [tables.Table("robustness: lag of a window of %d frames, candidates -%d to %d ms"
                         % (LENGTH, windows.MAX_OFFSET_MS, windows.MAX_OFFSET_MS), columns, lines)]


def lines_of(source, rows):
    lines = []
    clean = [row for row in rows if row["condition"] == conditions.CLEAN]
    for name in conditions.NAMES:
        of_name = [row for row in rows if row["condition"] == name]
        if not of_name:
            continue
        line = dict({"source": source, "condition": name}, **windows.describe(of_name, LENGTH))
        del line["floor_hit40"]  # this part does not ask the floor
        files = {row["clips"][0] for row in of_name}
        line["clean_hit40"] = windows.describe([row for row in clean if row["clips"][0] in files],
                                               LENGTH)["hit40"]
        lines.append(line)
    return lines
