# Copyright 2026 The av_fusion authors. SPDX-License-Identifier: Apache-2.0
"""Part 2: does the answer for a whole file move with its sound, and not with its frame rate?"""

import pathlib

import clips as clip_list
import floor
import media
import scores
import tables

OWN_RATE = "own"
# A second at 30 pictures, one at 15, then every fifth picture missing.
VARIABLE = "30,select='if(lt(t,1),1,if(lt(t,2),not(mod(n,2)),gt(mod(n,5),0)))'"
RATES = (OWN_RATE, "24000/1001", "25", "30000/1001", "30", "50", "60", "variable")


# ---------------------------------------------------------------- what to do

def plan(arguments, clips):
    jobs = []
    for clip in clips:
        jobs += [{"part": "shifts", "key": "%s %+g" % (clip.path, shift), "clip": clip.path,
                  "source": clip.source, "shift_ms": shift} for shift in arguments.shifts]
        jobs += [{"part": "shifts", "key": "%s at %s" % (clip.path, rate), "clip": clip.path,
                  "source": clip.source, "rate": rate} for rate in RATES]
    return jobs


def rate_filter(rate):
    """The video filter that converts to `rate`, with no delay of its own: neighbours are blended
    at the exact times of the new pictures."""
    if rate == OWN_RATE:
        return "null"
    return "minterpolate=mi_mode=blend:fps=" + (VARIABLE if rate == "variable" else rate)


def make_at_rate(clip, rate, output):
    sound = media.steady_sound(media.probe(clip)["duration_s"])
    media.ffmpeg(["-i", "file:" + str(clip), "-map", "0:v:0", "-map", "0:a:0",
                  "-vf", rate_filter(rate), "-af", sound]
                 + media.CODE_PICTURE + media.CODE_SOUND, output)


# ---------------------------------------------------------------- one file

def evaluate(arguments, job):
    """One row of the result file."""
    row = dict(job)
    source = pathlib.Path(arguments.data) / job["clip"]
    with media.scratch_folder() as folder:
        file = pathlib.Path(folder) / "shifted.mkv"
        if "rate" in job:
            make_at_rate(source, job["rate"], file)
        else:
            media.make_shifted(source, job["shift_ms"], file)
            tracks = floor.read_tracks(media.extract(arguments, file, folder))
            row["floor_offset_ms"] = floor.offset_ms(tracks, arguments.max_offset)
        row.update(media.answer(media.align(arguments, file, arguments.max_offset)))
    return row


# ---------------------------------------------------------------- tables

def groups(rows, key):
    """(source, value, rows) for each source and value of `key`, in the order of the jobs."""
    for source in sorted({row["source"] for row in rows}):
        of_source = [row for row in rows if row["source"] == source]
        for value in dict.fromkeys(row[key] for row in of_source):
            yield source, value, [row for row in of_source if row[key] == value]
        yield source, "all", of_source


def tables_of(arguments, rows):
    shifted = sorted((row for row in rows if "shift_ms" in row), key=lambda row: row["shift_ms"])
    at_rates = sorted((row for row in rows if "rate" in row),
                      key=lambda row: RATES.index(row["rate"]))
    return [absolute_table(arguments, shifted), moved_table(shifted), rate_table(at_rates)]


def write_shift(shift):
    return shift if isinstance(shift, str) else "%+g" % shift


def absolute_table(arguments, rows):
    """Sources of unknown lag are left out: only the table "moved" is about them."""
    lines = []
    known = [row for row in rows if not clip_list.is_relative(arguments, row["clip"])]
    for source, shift, group in groups(known, "shift_ms"):
        judged = [dict(row, truth_ms=row["shift_ms"]) for row in group]
        line = {"source": source, "shift_ms": shift}
        line.update(scores.accuracy(judged, arguments.max_offset))
        lines.append(line)
    columns = [("source", "source", tables.text), ("shift_ms", "shift", write_shift)]
    return tables.Table("shifts: answer for the whole file against the injected shift",
                        columns + tables.ACCURACY_COLUMNS, lines)


def moved_table(rows):
    base = {row["clip"]: row["offset_ms"] for row in rows if row["shift_ms"] == 0}
    rows = [row for row in rows if row["shift_ms"] != 0 and row["clip"] in base]
    lines = []
    for source, shift, group in groups(rows, "shift_ms"):
        changes = [row["offset_ms"] - base[row["clip"]] - row["shift_ms"] for row in group
                   if row["offset_ms"] is not None and base[row["clip"]] is not None]
        hits = sum(scores.is_hit(change) for change in changes)
        lines.append({"source": source, "shift_ms": shift, "n": len(group),
                      "moved": scores.share(hits, len(group)), "answers": len(changes),
                      "moved_of_answers": scores.share(hits, len(changes)),
                      "median_ms": scores.median(changes)})
    columns = [("source", "source", tables.text), ("shift_ms", "shift", write_shift),
               ("n", "n", tables.text), ("moved", "moved", tables.percent),
               ("answers", "answers", tables.text), ("moved_of_answers", "of ans.", tables.percent),
               ("median_ms", "median", tables.signed)]
    return tables.Table("moved: the answer changed by the injected shift, within 40 ms", columns,
                        lines)


def rate_table(rows):
    base = {row["clip"]: row["offset_ms"] for row in rows if row["rate"] == OWN_RATE}
    rows = [row for row in rows
            if row["rate"] != OWN_RATE and base.get(row["clip"]) is not None]
    lines = []
    for source, rate, group in groups(rows, "rate"):
        changes = [row["offset_ms"] - base[row["clip"]] for row in group
                   if row["offset_ms"] is not None]
        lines.append({"source": source, "rate": rate, "n": len(group),
                      "answered": scores.share(len(changes), len(group)),
                      "median_ms": scores.median(changes),
                      "median_abs_ms": scores.median([abs(change) for change in changes])})
    columns = [("source", "source", tables.text), ("rate", "rate", tables.text),
               ("n", "n", tables.text), ("answered", "meas", tables.percent),
               ("median_ms", "moved by", tables.signed), ("median_abs_ms", "|moved|", tables.fixed)]
    return tables.Table("rates: movement (ms) against the clip coded anew at its own rate", columns,
                        lines)
