#!/usr/bin/env python3
# Copyright 2026 The av_fusion authors. SPDX-License-Identifier: Apache-2.0
"""Measure how accurate av_align is, from files, through the programs a user runs.

    python3 apps/evaluate_aligner/evaluate_aligner.py \\
        --av-align build/release/apps/av_align/av_align \\
        --extract build/release/apps/extract_features/extract_features \\
        --data CLIPS --list CLIPS/val.tsv --relative val/web2 --output results.json

The list is tab-separated with columns clip, duration_s and, where it is known, speaker. Clips are
taken to be in sync, except those under a `--relative` prefix: their true lag is unknown, so only
changes of their answer are judged. Results are by source: the first two folders of a clip's path.

Parts (`--parts windows,shifts,refusal,calibration,speakers`; all by default):
  windows      lag of windows of 5, 15, 25, 50, 125 and 250 frames of 40 ms (0.2 to 10 s), search
               range 600 ms each way: the timeline of `av_align --window W --hop W`. Clips of one
               speaker and folder that are shorter than the window are put end to end. A relative
               clip has its sound moved by a seeded shift, and its windows are judged against the
               answer for the whole clip as it was; windows in the silence that moving leaves are
               left out.
  shifts       answer for whole files whose sound was moved (`--shifts`): against the shift, and
               ("moved", which needs no known lag) against the answer of shift 0. Then the same
               clips converted to 23.976, 25, 29.97, 30, 50, 60 frames a second and to a variable
               rate: movement against the clip coded anew at its own rate.
  refusal      `--negatives` files without a true offset, of the kinds in refusal.py: the share that
               is called measured, and the share whose status is a right one.
  calibration  from all answers of the parts above: reliability of `confidence` in ten bins,
               expected calibration error, coverage and width of the 95 % interval.
  speakers     `--pairs` pairs of faces side by side, with the sound of the left, the right, both:
               average precision of `tracks[].speaking` by ticks of 40 ms.
  robustness   lag of windows of 50 frames (2 s) of every clip as it is and in each condition of
               conditions.py: babble and music at 20 to 0 dB, reverberation, telephone, AAC, Opus
               and MP3 of 32 kbit/s, a small picture, strong compression, side light. The windows
               are always those of the clip as it is. A relative clip is judged against the answer
               for the whole clip as it is. Head turn is missing: it cannot be made honestly from
               these clips, as a picture that is turned or bent shows no other side of the mouth.

Columns of the tables:
  clean     hit40 of the same files as they are
  files     files that the windows come from
  no ref    files left out because the whole clip without a shift has no answer to judge against
  n         windows or files; one without an answer counts as a miss
  meas      share of them with an answer
  hit40     share of all n with an error of at most 40 ms
  of meas   the same among those with an answer
  hit10     share of all n with an error of at most 10 ms
  |err|     median absolute error in ms, among the answered
  err       median signed error in ms, among the answered (bias)
  conf      mean reported confidence, among the answered
  floor     share of all n that the floor hits within 40 ms, a method without learning: the lag at
            which outer lip opening and loudness have the largest normalised cross-correlation, on
            the same windows, from the features of `extract_features`
  chance    the same for a guess at random among the lags searched, 10 ms apart
  n sp      windows with speech in half of their own time or more: with sound at most 25 dB softer
            than the loud tenth of the file (its 90th percentile). GRID clips begin and end with
            half a second of silence, where no method can find a lag
  hit40 sp  share of those with an error of at most 40 ms
A positive shift makes the sound EARLY, a negative one late: the sign of ITU-R BT.1359.

All random choices come from `--seed` and the name of the file to make, so they do not depend on
order. Results are saved after every file; the same command again goes on where the last one
stopped. A result file made with another program, model, seed or set of options is refused. A file
that cannot be made or judged stops nothing: it is listed, and the exit code is 1.

Needs Python 3.8 and the `ffmpeg` and `ffprobe` programs with libx264. The drawn faces of the part
refusal come from apps/make_talking_face, which needs espeak-ng, numpy and OpenCV: name a Python
that has them with `--drawing-python`.
"""

import argparse
import concurrent.futures
import hashlib
import json
import os
import pathlib
import sys
import threading

import calibration
import clips as clip_list
import media
import refusal
import robustness
import shifts
import who_speaks
import windows

PARTS = {"windows": windows, "shifts": shifts, "refusal": refusal, "calibration": calibration,
         "speakers": who_speaks, "robustness": robustness}
PARTS_OF_CALIBRATION = ("windows", "shifts", "refusal")
PROTOCOL = 2  # counts up whenever rows of an older version mean something else


# ---------------------------------------------------------------- result file

def identity(arguments):
    """Everything that the numbers depend on besides the clips."""
    version = media.run([arguments.av_align, "--version"]
                        + (["--model", arguments.model] if arguments.model else []))
    if version.returncode != 0:
        raise RuntimeError("%s --version: %s" % (arguments.av_align,
                                                 media.last_line(version.stderr)))
    return {
        "protocol": PROTOCOL,
        "program": version.stdout.decode("utf-8", "replace"),
        "program_sha256": sha256(arguments.av_align),
        "extractor_sha256": sha256(arguments.extract),
        "max_offset_ms": arguments.max_offset,
        "seed": arguments.seed,
        "relative": sorted(arguments.relative or []),
    }


def sha256(path):
    return hashlib.sha256(pathlib.Path(path).read_bytes()).hexdigest()


def load_rows(path, expected):
    """Rows of an earlier run of the same thing; an empty list if there is none."""
    if not path.exists():
        return []
    stored = json.loads(path.read_text(encoding="utf-8"))
    if stored.get("identity") != expected:
        raise RuntimeError("%s was made with another program, model, seed or set of options; name "
                           "another output or remove it" % path)
    return stored["rows"]


def save(path, stamp, rows, tables):
    """Writes the result file, one line for each row, as a whole or not at all."""
    rows = sorted(rows, key=lambda row: (row["part"], row["key"]))
    lines = ",\n".join(json.dumps(row, allow_nan=False) for row in rows)
    head = json.dumps({"identity": stamp, "tables": tables}, indent=1, allow_nan=False)
    partial = path.with_name(path.name + ".partial")
    partial.write_text("%s,\n \"rows\": [\n%s\n]}\n" % (head[:-2], lines), encoding="utf-8")
    os.replace(partial, path)


# ---------------------------------------------------------------- work

def evaluate_all(arguments, stamp, rows, jobs):
    """Adds to `rows` those of `jobs` that are missing; saves after every one. Returns failures."""
    known = {(row["part"], row["key"]) for row in rows}
    missing = [job for job in jobs if (job["part"], job["key"]) not in known]
    failures = []
    done = 0
    lock = threading.Lock()

    def work(job):
        nonlocal done
        row, failure = None, None
        try:
            row = PARTS[job["part"]].evaluate(arguments, job)
        except (RuntimeError, ValueError, KeyError, OSError) as error:
            failure = "%s, %s: %s" % (job["part"], job["key"], error)
        with lock:
            done += 1
            if failure:
                failures.append(failure)
            else:
                rows.append(row)
                save(arguments.output, stamp, rows, {})
            if sys.stderr.isatty():
                print("\r%s: %d of %d " % (job["part"], done, len(missing)), end="",
                      file=sys.stderr, flush=True)

    with concurrent.futures.ThreadPoolExecutor(max_workers=max(1, arguments.jobs)) as pool:
        list(pool.map(work, missing))
    if sys.stderr.isatty() and missing:
        print(file=sys.stderr)
    return failures


def plan(arguments):
    """{part: jobs} of all parts with files of their own, those of calibration's parts included."""
    clips = clip_list.read_clips(arguments)
    if not clips:
        raise RuntimeError("no clip of the list passes --filter and --min-duration")
    parts = set(arguments.parts)
    if "calibration" in parts:
        parts.update(PARTS_OF_CALIBRATION)
    return {part: spread(PARTS[part].plan(arguments, clips), arguments.limit)
            for part in PARTS if part in parts and part != "calibration"}


def spread(jobs, limit):
    """At most `limit` of the jobs, from all over the list; all of them if it is None."""
    if limit is None or limit >= len(jobs):
        return jobs
    return [jobs[index * len(jobs) // limit] for index in range(limit)]


def tables_of_parts(arguments, rows, planned):
    """(part, table) of all parts asked for, from the rows that the present options make."""
    wanted = {(job["part"], job["key"]) for jobs in planned.values() for job in jobs}
    rows = sorted((row for row in rows if (row["part"], row["key"]) in wanted),
                  key=lambda row: (row["part"], row["key"]))
    found = []
    for part in arguments.parts:
        sources = PARTS_OF_CALIBRATION if part == "calibration" else (part,)
        of_part = [row for row in rows if row["part"] in sources]
        found += [(part, table) for table in PARTS[part].tables_of(arguments, of_part)
                  if table.lines]
    return found


# ---------------------------------------------------------------- command line

def parse_arguments():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--av-align", required=True, help="the built av_align program")
    parser.add_argument("--extract", required=True, help="the built extract_features program")
    parser.add_argument("--data", required=True, help="folder that the list's paths start from")
    parser.add_argument("--list", required=True,
                        help="tab-separated list with columns clip, duration_s and speaker")
    parser.add_argument("--filter", action="append", metavar="PREFIX",
                        help="only clips whose path starts so; may be repeated")
    parser.add_argument("--relative", action="append", metavar="PREFIX",
                        help="the true lag of these clips is unknown; may be repeated")
    parser.add_argument("--min-duration", type=float, default=2.5, metavar="S",
                        help="only clips of at least S seconds (default %(default)s)")
    parser.add_argument("--parts", default=",".join(PARTS), metavar="PART,PART,...",
                        help="what to measure (default %(default)s)")
    parser.add_argument("--shifts", default="0,-500,-160,80,320,500", metavar="MS,MS,...",
                        help="shifts to inject, positive = sound early (default %(default)s)")
    parser.add_argument("--max-offset", type=int, default=1000, metavar="MS",
                        help="search range each way, except for windows (default %(default)s)")
    parser.add_argument("--negatives", type=int, default=220, metavar="N",
                        help="files of the part refusal (default %(default)s)")
    parser.add_argument("--pairs", type=int, default=40, metavar="N",
                        help="files of the part speakers (default %(default)s)")
    parser.add_argument("--limit", type=int, metavar="N",
                        help="at most N files a part, spread over it: for a quick look")
    parser.add_argument("--seed", type=int, default=1, help="of all choices (default %(default)s)")
    parser.add_argument("--drawing-python", default=sys.executable, metavar="PYTHON",
                        help="Python with numpy and OpenCV, for drawn faces (default: this one)")
    parser.add_argument("--model", help="model file for av_align instead of its own")
    parser.add_argument("--threads", type=int, default=1, help="threads of one av_align")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, metavar="N",
                        help="files at a time (default %(default)s)")
    parser.add_argument("--output", required=True, type=pathlib.Path, help="result file (JSON)")
    arguments = parser.parse_args()
    try:
        arguments.shifts = [float(text) for text in arguments.shifts.split(",")]
    except ValueError:
        parser.error("--shifts: a comma-separated list of numbers is needed")
    asked = arguments.parts.split(",")
    if not set(asked) <= set(PARTS):
        parser.error("--parts: a comma-separated list of %s is needed" % ", ".join(PARTS))
    arguments.parts = [part for part in PARTS if part in asked]
    return arguments


def main():
    arguments = parse_arguments()
    try:
        stamp = identity(arguments)
        rows = load_rows(arguments.output, stamp)
        planned = plan(arguments)
        jobs = [job for part in arguments.parts for job in planned.get(part, [])]
        failures = evaluate_all(arguments, stamp, rows, jobs)
        found = tables_of_parts(arguments, rows, planned)
        as_json = {}
        for part, table in found:
            as_json.setdefault(part, {})[table.title] = table.lines
        save(arguments.output, stamp, rows, as_json)
    except (RuntimeError, ValueError, OSError) as error:
        print("evaluate_aligner: %s" % error, file=sys.stderr)
        return 1
    print(stamp["program"].strip())
    for _, table in found:
        table.print()
    for failure in failures:
        print("failed: " + failure, file=sys.stderr)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
