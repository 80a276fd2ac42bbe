#!/usr/bin/env python3
# Copyright 2026 The av_fusion authors. SPDX-License-Identifier: Apache-2.0
"""Measure how accurate av_align is, from files, through the program a user runs.

    python3 apps/evaluate_aligner/evaluate_aligner.py \\
        --av-align build/release/apps/av_align/av_align \\
        --extract build/release/apps/extract_features/extract_features \\
        --data CLIPS --list CLIPS/val.tsv --filter val/grid_other --min-duration 2.5 \\
        --shifts 0,-400,-160,80,320 --output results.json

For every clip of the list and every shift it
  1. makes a file in which the picture is copied and the sound is decoded, moved by whole samples
     and stored as PCM in Matroska, as long as before. A positive shift makes the sound EARLY (its
     beginning is cut), a negative one late (silence before it): the sign of ITU-R BT.1359;
  2. runs `av_align -o - FILE` and compares `offset_ms` with the shift. A clip of the list is taken
     to be in sync; where that is not known, use the table "moved";
  3. runs `extract_features` on the same file and asks the FLOOR, a method without learning: the lag
     at which outer lip opening and loudness have the largest normalised cross-correlation.

It prints, by source (the first two folders of a clip's path) and shift:
  n         clips
  meas      share of clips for which an offset was reported
  hit40     share of all n clips with an error of at most 40 ms. No answer counts as a miss
  of meas   the same among the clips with an answer
  hit10     share of all n clips with an error of at most 10 ms
  |err|     median absolute error in ms, among the answered
  err       median signed error in ms, among the answered
  conf      mean reported confidence, among the answered
  floor     share of all n clips that the floor hits within 40 ms
  chance    the same for a guess at random among the lags searched
and a second table, "moved": share of clips whose answer changed by the injected shift (within
40 ms) against the answer for the same clip at shift 0. This needs no knowledge of the true lag.

Nothing is random. Results are saved after every file; the same command again goes on where the last
one stopped. A result file made with another program, model or set of options is refused.
Needs Python 3.8 and the `ffmpeg` and `ffprobe` programs, nothing else.
"""

import argparse
import array
import concurrent.futures
import csv
import hashlib
import json
import math
import os
import pathlib
import statistics
import struct
import subprocess
import sys
import tempfile
import threading

HIT_MS = 40.0
FINE_HIT_MS = 10.0
LAG_STEP_MS = 10
MEL_LEAD = 200            # log-mel frames of a feature file before its first tick
OUTER_OPENING_COLUMN = 1  # of the lip geometry of a feature file
TIE_MS = 1e-6  # rounding of float arithmetic must not turn a hit into a miss


# ---------------------------------------------------------------- shifted files

def run(command, **options):
    """Runs a program and returns its result; its input is closed, so it can never wait for keys."""
    return subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, check=False, **options)


def probe_duration_s(clip):
    """Length of a clip on its presentation timeline, in seconds."""
    done = run(["ffprobe", "-v", "error", "-show_entries", "format=duration", "-of", "json",
                "file:" + str(clip)])
    if done.returncode != 0:
        raise RuntimeError("ffprobe cannot read %s: %s" % (clip, last_line(done.stderr)))
    return float(json.loads(done.stdout)["format"]["duration"])


def shift_filter(shift_ms, duration_s):
    """The audio filter that makes the sound early by `shift_ms` and keeps the length."""
    steps = ["aresample=async=1:first_pts=0"]  # holes and a late start become silence
    if shift_ms > 0:
        steps += ["atrim=start=%.6f" % (shift_ms / 1000.0), "asetpts=PTS-STARTPTS"]
    elif shift_ms < 0:
        steps += ["adelay=delays=%g:all=1" % -shift_ms]
    steps += ["apad=whole_dur=%.6f" % duration_s, "atrim=end=%.6f" % duration_s]
    return ",".join(steps)


def make_shifted(clip, shift_ms, output):
    """Writes `clip` with its sound moved to `output` (Matroska, picture copied, PCM sound)."""
    done = run(["ffmpeg", "-v", "error", "-nostdin", "-y", "-i", "file:" + str(clip),
                "-map", "0:v:0", "-map", "0:a:0", "-c:v", "copy",
                "-af", shift_filter(shift_ms, probe_duration_s(clip)), "-c:a", "pcm_s16le",
                "-f", "matroska", "file:" + str(output)])
    if done.returncode != 0:
        raise RuntimeError("ffmpeg cannot shift %s: %s" % (clip, last_line(done.stderr)))


def last_line(text):
    lines = text.decode("utf-8", "replace").strip().splitlines()
    return lines[-1] if lines else "no message"


# ---------------------------------------------------------------- the floor

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


def correlation(xs, ys):
    """Pearson's r of two equally long lists; 0 if one of them is constant."""
    count = len(xs)
    mean_x, mean_y = sum(xs) / count, sum(ys) / count
    sxx = sum((x - mean_x) ** 2 for x in xs)
    syy = sum((y - mean_y) ** 2 for y in ys)
    if sxx <= 0 or syy <= 0:
        return 0.0
    return sum((x - mean_x) * (y - mean_y) for x, y in zip(xs, ys)) / math.sqrt(sxx * syy)


def best_lag_ms(opening, valid, loudness, max_offset_ms):
    """(correlation, lag) of the lag (sound late > 0) at which `opening` and `loudness` agree best.

    `opening` has a value every 40 ms, `loudness` every 10 ms from MEL_LEAD frames before the first
    tick, None where nothing was recorded. A lag counts if half of the valid ticks have sound there.
    """
    ticks = [i for i, ok in enumerate(valid) if ok]
    best = (-2.0, None)
    for lag in range(-(max_offset_ms // LAG_STEP_MS), max_offset_ms // LAG_STEP_MS + 1):
        pairs = [(i, MEL_LEAD + 4 * i + lag) for i in ticks]
        pairs = [(i, j) for i, j in pairs
                 if 0 <= j < len(loudness) and loudness[j] is not None]
        if len(pairs) < 3 or 2 * len(pairs) < len(ticks):
            continue
        r = correlation([opening[i] for i, _ in pairs], [loudness[j] for _, j in pairs])
        if r > best[0]:
            best = (r, lag * LAG_STEP_MS)
    return best


def floor_offset_ms(arguments, media, folder):
    """The floor's offset (sound early > 0) of a file, or None where it has no face."""
    media = pathlib.Path(media)
    done = run([arguments.extract, "--root", str(media.parent), "--output", str(folder),
                media.name])
    if done.returncode != 0:
        raise RuntimeError("extract_features failed on %s: %s" % (media, last_line(done.stderr)))
    features = pathlib.Path(folder) / (media.name + ".safetensors")
    if not features.exists():
        return None
    tensors, metadata = read_safetensors(features)
    best = (-2.0, None)
    for track in range(int(metadata["tracks"])):
        suffix = "_%d" % track if track else ""
        best = max(best, track_lag_ms(tensors, suffix, arguments.max_offset), key=lambda b: b[0])
    return None if best[1] is None else -best[1]


def track_lag_ms(tensors, suffix, max_offset_ms):
    """`best_lag_ms` of one face track of a feature file."""
    geometry, columns = numbers(tensors["geometry" + suffix]), tensors["geometry" + suffix][1][1]
    mel, bands = numbers(tensors["mel" + suffix]), tensors["mel" + suffix][1][1]
    opening = geometry[OUTER_OPENING_COLUMN::columns]
    loudness = [sum(mel[i:i + bands]) / bands for i in range(0, len(mel), bands)]
    heard = numbers(tensors["mel_valid" + suffix])
    loudness = [value if ok else None for value, ok in zip(loudness, heard)]
    return best_lag_ms(opening, numbers(tensors["valid" + suffix]), loudness, max_offset_ms)


# ---------------------------------------------------------------- one clip, one shift

def align(arguments, media):
    """The report of av_align for `media`, as a dict."""
    command = [arguments.av_align, "-o", "-", "--quiet", "--max-offset", str(arguments.max_offset),
               "--threads", str(arguments.threads)]
    if arguments.model:
        command += ["--model", arguments.model]
    done = run(command + ["--", str(media)])
    if done.returncode not in (0, 1, 2):
        raise RuntimeError("av_align failed on %s: %s" % (media, last_line(done.stderr)))
    return json.loads(done.stdout)


def evaluate_one(arguments, clip, shift_ms):
    """One row of the result file."""
    row = {"clip": clip, "shift_ms": shift_ms}
    with tempfile.TemporaryDirectory(prefix="evaluate_aligner_") as folder:
        media = pathlib.Path(folder) / "shifted.mkv"
        make_shifted(pathlib.Path(arguments.data) / clip, shift_ms, media)
        report = align(arguments, media)
        for key in ("status", "offset_ms", "interval_ms", "confidence", "at_search_edge"):
            row[key] = report.get(key)
        row["wall_s"] = (report.get("performance") or {}).get("wall_s")
        row["floor_offset_ms"] = floor_offset_ms(arguments, media, folder)
    return row


def read_clips(arguments):
    """Paths of the clips to judge, in the order of the list."""
    with open(arguments.list, encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))
    return [row["clip"] for row in rows
            if any(row["clip"].startswith(prefix) for prefix in arguments.filter or [""])
            and float(row["duration_s"]) >= arguments.min_duration]


# ---------------------------------------------------------------- tables

def source_of(clip):
    return "/".join(pathlib.PurePosixPath(clip).parts[:2])


def percent(part, whole):
    return "%5.1f%%" % (100.0 * part / whole) if whole else "    - "


def typical(values, pattern, statistic=statistics.median):
    return pattern % statistic(values) if values else "-"


def summarise(rows, max_offset_ms):
    """The numbers of one line of the first table."""
    answered = [row for row in rows if row["offset_ms"] is not None]
    errors = [row["offset_ms"] - row["shift_ms"] for row in answered]
    floors = [row["floor_offset_ms"] - row["shift_ms"] for row in rows
              if row["floor_offset_ms"] is not None]
    lags = range(-(max_offset_ms // LAG_STEP_MS), max_offset_ms // LAG_STEP_MS + 1)
    lucky = sum(sum(abs(lag * LAG_STEP_MS - row["shift_ms"]) <= HIT_MS for lag in lags)
                for row in rows)
    return {
        "n": len(rows),
        "measured": len(answered),
        "hits_40_ms": sum(abs(e) <= HIT_MS + TIE_MS for e in errors),
        "hits_10_ms": sum(abs(e) <= FINE_HIT_MS + TIE_MS for e in errors),
        "errors_ms": errors,
        "confidences": [row["confidence"] for row in answered if row["confidence"] is not None],
        "floor_hits_40_ms": sum(abs(e) <= HIT_MS + TIE_MS for e in floors),
        "chance": lucky / (len(rows) * len(lags)) if rows else 0.0,
    }


def print_table(rows, max_offset_ms):
    print("%-22s %7s %5s %7s %7s %7s %7s %7s %7s %6s %7s %7s" % (
        "source", "shift", "n", "meas", "hit40", "of meas", "hit10", "|err|", "err", "conf",
        "floor", "chance"))
    for source, shift, group in groups(rows):
        line = summarise(group, max_offset_ms)
        errors = line["errors_ms"]
        print("%-22s %7s %5d %7s %7s %7s %7s %7s %7s %6s %7s %7s" % (
            source, shift, line["n"], percent(line["measured"], line["n"]),
            percent(line["hits_40_ms"], line["n"]), percent(line["hits_40_ms"], line["measured"]),
            percent(line["hits_10_ms"], line["n"]), typical([abs(e) for e in errors], "%.1f"),
            typical(errors, "%+.1f"), typical(line["confidences"], "%.2f", statistics.fmean),
            percent(line["floor_hits_40_ms"], line["n"]), percent(line["chance"], 1.0)))


def print_moved_table(rows):
    base = {row["clip"]: row["offset_ms"] for row in rows if row["shift_ms"] == 0}
    moved_rows = [row for row in rows if row["shift_ms"] != 0 and row["clip"] in base]
    if not moved_rows:
        return
    print("\nmoved: the answer changed by the injected shift, within 40 ms")
    print("%-22s %7s %5s %7s %7s %7s" % ("source", "shift", "n", "moved", "answers", "of ans."))
    for source, shift, group in groups(moved_rows):
        changes = [row["offset_ms"] - base[row["clip"]] - row["shift_ms"] for row in group
                   if row["offset_ms"] is not None and base[row["clip"]] is not None]
        hits = sum(abs(change) <= HIT_MS + TIE_MS for change in changes)
        print("%-22s %7s %5d %7s %7d %7s" % (source, shift, len(group), percent(hits, len(group)),
                                             len(changes), percent(hits, len(changes))))


def groups(rows):
    """(source, shift, rows) for each source and shift, and for all shifts of a source together."""
    for source in sorted({source_of(row["clip"]) for row in rows}):
        of_source = [row for row in rows if source_of(row["clip"]) == source]
        for shift in sorted({row["shift_ms"] for row in of_source}):
            yield source, "%+g" % shift, [row for row in of_source if row["shift_ms"] == shift]
        yield source, "all", of_source


# ---------------------------------------------------------------- result file

def identity(arguments):
    """Everything that the numbers depend on besides the clips."""
    version = run([arguments.av_align, "--version"]
                  + (["--model", arguments.model] if arguments.model else []))
    if version.returncode != 0:
        raise RuntimeError("%s --version: %s" % (arguments.av_align, last_line(version.stderr)))
    text = version.stdout.decode("utf-8", "replace")
    return {
        "program": text,
        "program_sha256": hashlib.sha256(pathlib.Path(arguments.av_align).read_bytes()).hexdigest(),
        "max_offset_ms": arguments.max_offset,
    }


def load_rows(path, expected):
    """Rows of an earlier run of the same thing; an empty list if there is none."""
    if not path.exists():
        return []
    stored = json.loads(path.read_text(encoding="utf-8"))
    if stored["identity"] != expected:
        raise RuntimeError("%s was made with another program, model or search range; name another "
                           "output or remove it" % path)
    return stored["rows"]


def save_rows(path, stamp, rows):
    rows = sorted(rows, key=lambda row: (row["clip"], row["shift_ms"]))
    partial = path.with_name(path.name + ".partial")
    partial.write_text(json.dumps({"identity": stamp, "rows": rows}, indent=1) + "\n",
                       encoding="utf-8")
    os.replace(partial, path)


# ---------------------------------------------------------------- command line

def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--av-align", required=True, help="the built av_align program")
    parser.add_argument("--extract", required=True, help="the built extract_features program")
    parser.add_argument("--data", required=True, help="folder that the list's paths start from")
    parser.add_argument("--list", required=True,
                        help="tab-separated list with columns clip and duration_s")
    parser.add_argument("--filter", action="append", metavar="PREFIX",
                        help="only clips whose path starts so; may be repeated")
    parser.add_argument("--min-duration", type=float, default=0.0, metavar="S",
                        help="only clips of at least S seconds")
    parser.add_argument("--shifts", default="0,-400,-160,80,320", metavar="MS,MS,...",
                        help="shifts to inject, positive = sound early (default %(default)s)")
    parser.add_argument("--max-offset", type=int, default=1000, metavar="MS",
                        help="search range each way (default %(default)s)")
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
    return arguments


def evaluate_all(arguments, stamp, rows):
    """Fills `rows` with what is missing; saves after every row. Returns the failures."""
    known = {(row["clip"], row["shift_ms"]) for row in rows}
    wanted = [(clip, shift) for clip in read_clips(arguments) for shift in arguments.shifts]
    missing = [job for job in wanted if job not in known]
    failures = []
    lock = threading.Lock()

    def work(job):
        try:
            row = evaluate_one(arguments, *job)
        except (RuntimeError, ValueError, OSError) as error:
            with lock:
                failures.append("%s, shift %+g: %s" % (job[0], job[1], error))
            return
        with lock:
            rows.append(row)
            save_rows(arguments.output, stamp, rows)
            if sys.stderr.isatty():
                print("\r%d of %d " % (len(rows), len(known) + len(missing)), end="",
                      file=sys.stderr, flush=True)

    with concurrent.futures.ThreadPoolExecutor(max_workers=max(1, arguments.jobs)) as pool:
        list(pool.map(work, missing))
    if sys.stderr.isatty() and missing:
        print(file=sys.stderr)
    rows[:] = [row for row in rows if (row["clip"], row["shift_ms"]) in set(wanted)]
    return failures


def main():
    arguments = parse_arguments()
    try:
        stamp = identity(arguments)
        rows = load_rows(arguments.output, stamp)
        failures = evaluate_all(arguments, stamp, rows)
    except (RuntimeError, OSError) as error:
        print("evaluate_aligner: %s" % error, file=sys.stderr)
        return 1
    print(stamp["program"].strip())
    print_table(rows, arguments.max_offset)
    print_moved_table(rows)
    for failure in failures:
        print("failed: " + failure, file=sys.stderr)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
