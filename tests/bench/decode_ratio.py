#!/usr/bin/env python3
# Copyright 2026 The av_fusion authors. SPDX-License-Identifier: Apache-2.0
"""How long av_align takes beside FFmpeg's decoding alone, which is the limit.

    python3 tests/bench/decode_ratio.py --av-align build/release/apps/av_align/av_align

Makes one film for each case from a clip (the sample of the repository, or any clip with one face in
sync), then runs `ffmpeg -i FILM -f null -` and av_align in turn, both with `--threads`, and prints
medians and their ratio; then where av_align's time went. `--lengths 10,100` compares lengths (in
minutes) of the second case instead: is the cost linear? `--fast 60` tells how many times real time
`av_align --fast` runs at, with a film of the first case of so many minutes. Needs the ffmpeg program
with libx264, and a machine with nothing else to do.
"""

import argparse
import os
import pathlib
import re
import statistics
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
PIECE_S = 20
ONE_FACE = "scale=-2:{h},pad={w}:{h}:(ow-iw)/2:0:color=0x405060,noise=alls=4:allf=t"
TWO_FACES = ("split[a][b];[a]scale={half}:-2[l];[b]scale={half}:-2,hflip[r];[l][r]hstack,"
             "pad={w}:{h}:(ow-iw)/2:(oh-ih)/2:color=0x405060,noise=alls=4:allf=t")
CASES = {  # name: width, height, pictures a second, filter, largest ratio that is the aim
    "1080p25, one face": (1920, 1080, 25, ONE_FACE, 2.0),
    "720p30, one face": (1280, 720, 30, ONE_FACE, 3.0),
    "360p25, two faces": (640, 360, 25, TWO_FACES, None),
}


def run(command):
    """(wall seconds, seconds of CPU, stderr) of a command that must work."""
    begun = os.times()
    done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                          stderr=subprocess.PIPE, check=False)
    ended = os.times()
    if done.returncode not in (0, 1, 2) or (done.returncode and command[0] == "ffmpeg"):
        sys.exit("%s: %s" % (" ".join(map(str, command)), done.stderr.decode(errors="replace")))
    cpu = (ended.children_user - begun.children_user
           + ended.children_system - begun.children_system)
    return ended.elapsed - begun.elapsed, cpu, done.stderr.decode(errors="replace")


def make_film(case, clip, minutes, folder):
    """A film of so many minutes: a coded piece, repeated as it is."""
    width, height, rate, picture, _ = CASES[case]
    piece, film = folder / "piece.mp4", folder / "film.mp4"
    picture = picture.format(w=width, h=height, half=width // 2)
    run(["ffmpeg", "-v", "error", "-y", "-stream_loop", "-1", "-i", clip, "-t", str(PIECE_S),
         "-filter_complex", "[0:v]%s,fps=%d[v]" % (picture, rate), "-map", "[v]", "-map", "0:a:0",
         "-c:v", "libx264", "-preset", "veryfast", "-crf", "23", "-pix_fmt", "yuv420p",
         "-c:a", "aac", "-ar", "48000", "-b:a", "96k", piece])
    run(["ffmpeg", "-v", "error", "-y", "-stream_loop", str(round(minutes * 60 / PIECE_S) - 1),
         "-i", piece, "-c", "copy", film])
    return film


def decode(film, threads):
    return run(["ffmpeg", "-v", "error", "-threads", str(threads), "-i", film, "-f", "null", "-"])


def align(program, film, threads, *options):
    return run([program, "--threads", str(threads), "--quiet", "--profile", *options, film])


def shares(profile):
    """The table of --profile as "decode 40 %, detect 20 %, ..."."""
    found = re.findall(r"^(\S.*?)\s+([\d.]+) s\s+([\d.]+) %", profile, re.MULTILINE)
    return ", ".join("%s %.0f %%" % (name, float(share)) for name, _, share in found
                     if name != "all")


def compare(arguments, folder):
    print("%-20s %11s %11s %7s %9s %9s" % ("film of %g min" % arguments.minutes, "decode s",
                                           "av_align s", "ratio", "CPU ratio", "real time"))
    profiles = []
    for case in CASES:
        film = make_film(case, arguments.clip, arguments.minutes, folder)
        rows = [(decode(film, arguments.threads), align(arguments.av_align, film,
                                                        arguments.threads))
                for _ in range(arguments.runs)]
        plain, whole = (statistics.median(row[side][0] for row in rows) for side in (0, 1))
        plain_cpu, whole_cpu = (statistics.median(row[side][1] for row in rows) for side in (0, 1))
        wished = CASES[case][4]
        print("%-20s %11.2f %11.2f %7.2f %9.2f %8.1fx%s"
              % (case, plain, whole, whole / plain, whole_cpu / plain_cpu,
                 arguments.minutes * 60 / whole,
                 "  (at most %.1f is the aim)" % wished if wished else ""), flush=True)
        profiles.append("%s: %s" % (case, shares(rows[-1][1][2])))
    print("\n".join(profiles))


def compare_lengths(arguments, folder):
    case = list(CASES)[1]
    print("%s: seconds of CPU a minute of film" % case)
    for minutes in arguments.lengths:
        film = make_film(case, arguments.clip, minutes, folder)
        cpu = statistics.median(align(arguments.av_align, film, arguments.threads)[1]
                                for _ in range(arguments.runs))
        print("%6g min: %.3f" % (minutes, cpu / minutes), flush=True)


def measure_fast(arguments, folder):
    film = make_film(list(CASES)[0], arguments.clip, arguments.fast, folder)
    wall = statistics.median(align(arguments.av_align, film, arguments.threads, "--fast")[0]
                             for _ in range(arguments.runs))
    print("--fast, %g minutes of %s: %.2f s, %.0f x real time (at least 50 is the aim)"
          % (arguments.fast, list(CASES)[0], wall, arguments.fast * 60 / wall))


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--av-align", required=True)
    parser.add_argument("--clip", default=ROOT / "assets/samples/talking_face.mp4")
    parser.add_argument("--minutes", type=float, default=5)
    parser.add_argument("--lengths", type=lambda text: [float(part) for part in text.split(",")])
    parser.add_argument("--fast", type=float, metavar="MINUTES")
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--threads", type=int, default=1)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        measure = measure_fast if arguments.fast else (
            compare_lengths if arguments.lengths else compare)
        measure(arguments, pathlib.Path(folder))


if __name__ == "__main__":
    main()
