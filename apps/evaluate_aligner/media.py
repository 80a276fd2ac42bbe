# Copyright 2026 The av_fusion authors. SPDX-License-Identifier: Apache-2.0
"""Media files of the evaluation: made with ffmpeg, judged by the built programs.

All files made here are Matroska with PCM sound that begins at time 0, so that no codec delay and no
edit list stands between what is asked for and what is in the file.
"""

import array
import json
import math
import pathlib
import subprocess
import sys
import tempfile

TICK_S = 0.04
SOUND_HZ = 16000  # of sound that is worked on here
RAW_SOUND = ["-f", "f32le" if sys.byteorder == "little" else "f32be", "-ar", str(SOUND_HZ),
             "-ac", "1"]
# Visually lossless: coding must not cost accuracy that the clip itself would have given.
CODE_PICTURE = ["-c:v", "libx264", "-preset", "veryfast", "-crf", "14", "-pix_fmt", "yuv420p",
                "-fps_mode", "passthrough"]
CODE_SOUND = ["-c:a", "pcm_s16le"]


def run(command, **options):
    """Runs a program and returns its result; its input is closed, so it can never wait for keys."""
    return subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, check=False, **options)


def last_line(text):
    lines = text.decode("utf-8", "replace").strip().splitlines()
    return lines[-1] if lines else "no message"


def scratch_folder():
    """A folder that is gone with the `with` block."""
    return tempfile.TemporaryDirectory(prefix="evaluate_aligner_")


def ffmpeg(arguments, output, container="matroska"):
    """Runs ffmpeg with `arguments` and writes `output`."""
    done = run(["ffmpeg", "-v", "error", "-nostdin", "-y"] + arguments
               + ["-f", container, "file:" + str(output)])
    if done.returncode != 0:
        raise RuntimeError("ffmpeg cannot make the file: " + last_line(done.stderr))


def probe(clip):
    """Length of a clip on its presentation timeline in seconds, its size and its frame rate."""
    done = run(["ffprobe", "-v", "error", "-select_streams", "v:0", "-show_entries",
                "format=duration:stream=width,height,avg_frame_rate", "-of", "json",
                "file:" + str(clip)])
    if done.returncode != 0:
        raise RuntimeError("ffprobe cannot read %s: %s" % (clip, last_line(done.stderr)))
    found = json.loads(done.stdout)
    if not found.get("streams"):
        raise RuntimeError("%s has no picture" % clip)
    stream = found["streams"][0]
    count, _, per = stream["avg_frame_rate"].partition("/")
    return {"duration_s": float(found["format"]["duration"]), "width": stream["width"],
            "height": stream["height"], "fps": float(count) / max(1.0, float(per or 1))}


def loudness_db(clip):
    """Loudness of the sound of a clip, a value every 10 ms."""
    done = run(["ffmpeg", "-v", "error", "-nostdin", "-i", "file:" + str(clip), "-map", "0:a:0",
                "-ac", "1", "-ar", "8000", "-f", "s16le", "-"])
    if done.returncode != 0:
        raise RuntimeError("ffmpeg cannot decode %s: %s" % (clip, last_line(done.stderr)))
    samples = array.array("h", done.stdout[:len(done.stdout) // 2 * 2])
    if sys.byteorder == "big":
        samples.byteswap()
    return [10 * math.log10(1 + sum(x * x for x in samples[i:i + 80]) / 80)
            for i in range(0, len(samples) - 79, 80)]


# ---------------------------------------------------------------- moved sound

def steady_sound(duration_s):
    """The audio filter that fills holes and a late start with silence and sets the length."""
    return ("aresample=async=1:first_pts=0,apad=whole_dur=%.6f,atrim=end=%.6f"
            % (duration_s, duration_s))


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
    """Writes `clip` with its sound moved to `output`; the picture is copied."""
    ffmpeg(["-i", "file:" + str(clip), "-map", "0:v:0", "-map", "0:a:0", "-c:v", "copy",
            "-af", shift_filter(shift_ms, probe(clip)["duration_s"])] + CODE_SOUND, output)


# ---------------------------------------------------------------- sound as numbers

def read_sound(clip, filters="anull"):
    """The sound of a clip behind the audio filters `filters`, as samples of 16 kHz from -1 to 1."""
    done = run(["ffmpeg", "-v", "error", "-nostdin", "-i", "file:" + str(clip), "-map", "0:a:0",
                "-af", filters] + RAW_SOUND + ["-"])
    if done.returncode != 0:
        raise RuntimeError("ffmpeg cannot decode %s: %s" % (clip, last_line(done.stderr)))
    samples = array.array("f")
    samples.frombytes(done.stdout[:len(done.stdout) // samples.itemsize * samples.itemsize])
    return samples


def sound_input(samples, file):
    """Writes `samples` to `file` and gives the ffmpeg options that read it as an input."""
    pathlib.Path(file).write_bytes(array.array("f", samples).tobytes())
    return RAW_SOUND + ["-i", "file:" + str(file)]


def make_with_sound(clip, samples, output):
    """Writes the picture of `clip`, copied, with `samples`, made softer only if they clip."""
    peak = max(1.0, max(samples), -min(samples))
    with scratch_folder() as folder:
        sound = sound_input([sample / peak for sample in samples],
                            pathlib.Path(folder) / "sound.raw")
        ffmpeg(["-i", "file:" + str(clip)] + sound + ["-map", "0:v:0", "-map", "1:a:0", "-c:v",
                                                      "copy"] + CODE_SOUND, output)


# ---------------------------------------------------------------- clips end to end

def whole_ticks_s(duration_s):
    """The largest whole number of 40 ms ticks in `duration_s`, in seconds."""
    return int(duration_s / TICK_S + 1e-6) * TICK_S


def part_filters(index, found, size):
    """Filters of the part number `index` of a stitched file: picture to [v...], sound to [a...].

    The picture ends with the last one that is shown to its end, so that both streams are equally
    long and the next part begins on a tick.
    """
    duration_s = whole_ticks_s(found["duration_s"])
    end_of_picture = duration_s - 1.0 / found["fps"] + 0.001  # containers round to milliseconds
    width, height = size
    picture = ("[%d:v:0]trim=end=%.6f,scale=%d:%d:force_original_aspect_ratio=decrease,"
               "pad=%d:%d:(ow-iw)/2:(oh-ih)/2,setsar=1,format=yuv420p[v%d]"
               % (index, end_of_picture, width, height, width, height, index))
    sound = ("[%d:a:0]%s,aformat=sample_fmts=fltp:sample_rates=16000:channel_layouts=mono[a%d]"
             % (index, steady_sound(duration_s), index))
    return [picture, sound]


def make_stitched(clips, output):
    """Writes `clips` end to end, in the size of the first."""
    found = [probe(clip) for clip in clips]
    size = even(found[0]["width"]), even(found[0]["height"])
    inputs, filters, pads = [], [], ""
    for index, clip in enumerate(clips):
        inputs += ["-i", "file:" + str(clip)]
        filters += part_filters(index, found[index], size)
        pads += "[v%d][a%d]" % (index, index)
    filters.append("%sconcat=n=%d:v=1:a=1[v][a]" % (pads, len(clips)))
    ffmpeg(inputs + ["-filter_complex", ";".join(filters), "-map", "[v]", "-map", "[a]"]
           + CODE_PICTURE + CODE_SOUND, output)


def even(number):
    """4:2:0 pictures have even sides."""
    return int(number) // 2 * 2


# ---------------------------------------------------------------- the built programs

def align(arguments, media, max_offset_ms, window_s=None):
    """The report of av_align for `media`, as a dict; stretches of `window_s` end to end."""
    command = [arguments.av_align, "-o", "-", "--quiet", "--max-offset", str(max_offset_ms),
               "--threads", str(arguments.threads)]
    if window_s is not None:
        command += ["--window", "%g" % window_s, "--hop", "%g" % window_s]
    if arguments.model:
        command += ["--model", arguments.model]
    done = run(command + ["--", str(media)])
    if done.returncode not in (0, 1, 2):
        raise RuntimeError("av_align failed: " + last_line(done.stderr))
    return json.loads(done.stdout)


def answer(report):
    """What the rows of the result file keep of a report."""
    kept = {key: report.get(key) for key in ("status", "offset_ms", "interval_ms", "confidence",
                                             "at_search_edge", "reason")}
    kept["wall_s"] = (report.get("performance") or {}).get("wall_s")
    return kept


def extract(arguments, media, folder):
    """The feature file of `media`, or None where it has no face."""
    media = pathlib.Path(media)
    done = run([arguments.extract, "--root", str(media.parent), "--output", str(folder),
                media.name])
    if done.returncode != 0:
        raise RuntimeError("extract_features failed: " + last_line(done.stderr))
    features = pathlib.Path(folder) / (media.name + ".safetensors")
    return features if features.exists() else None
