"""Makes a film of a talking face whose audio/video offset is known exactly.

README section
--------------
The sample `assets/samples/talking_face.mp4` is made from nothing but this folder. It needs
espeak-ng (with `libespeak-ng.so.1`), the `ffmpeg` command, and Python with `numpy` and
`opencv-python-headless`. From the top of the repository:

    python3 apps/make_talking_face/make_talking_face.py --sample assets/samples/talking_face.mp4

This writes the film and `talking_face.json`, which holds what is true about it. Other films:

    python3 apps/make_talking_face/make_talking_face.py --text "Hello there." --voice en-us \
        --offset-ms -80 --fps 30000/1001 --output hello.mp4
    python3 apps/make_talking_face/make_talking_face.py --batch 20 --seed 7 --output clips/

`--offset-ms` above 0 means sound early: the sound comes before the picture it belongs to. The
samples are moved (to the nearest sample, at 44.1 kHz) and silence fills the gap; both streams
begin at time 0. What counts as offset 0 is written in `articulation.py`. The same options give the
same samples and pictures; the same versions of ffmpeg and espeak-ng give the same bytes.
"""

import argparse
import json
import os
import shlex
import sys
from dataclasses import dataclass
from fractions import Fraction

import cv2
import numpy as np

from articulation import mouth_track
from encode import write_film
from face import EyeState, FaceLook, FaceRenderer, Pose
from sentences import has_sentences, random_sentences, random_voice
from speech import double_rate, loudness_db, synthesise

SAMPLE_OPTIONS = (
    "--text", "Good morning, and welcome. I am a picture made by a program. "
    "My voice and my mouth move by the same clock, so you may measure how far apart they are.",
    "--voice", "en-us+f2", "--rate", "165", "--pitch", "58", "--seed", "36",
    "--size", "480x360", "--offset-ms", "120", "--crf", "25",
)  # fmt: skip

_SCRIPT = "apps/make_talking_face/make_talking_face.py"
_SAMPLE = "assets/samples/talking_face.mp4"
_MARGIN_S = 0.35


@dataclass
class ClipPlan:
    """Everything that decides one clip."""

    text: str
    voice: str
    words_per_minute: int
    pitch: int
    seed: int
    fps: Fraction
    size: tuple
    offset_ms: float
    noise: float
    crf: int


@dataclass
class ClipFacts:
    """What is known about a finished clip. `opening_lag_ms` above 0: lips later than loudness."""

    duration_s: float
    frames: int
    opening_lag_ms: float
    opening_correlation: float
    rows: list


def parse_fps(text):
    """25, 29.97, 23.976 or 30000/1001; the decimal names of the NTSC rates become exact."""
    named = {"23.976": "24000/1001", "23.98": "24000/1001", "29.97": "30000/1001",
             "59.94": "60000/1001", "47.952": "48000/1001", "14.985": "15000/1001"}  # fmt: skip
    try:
        fps = Fraction(named.get(text, text))
    except (ValueError, ZeroDivisionError) as error:
        raise argparse.ArgumentTypeError(f"not a frame rate: {text!r}") from error
    if not 1 <= fps <= 240:
        raise argparse.ArgumentTypeError(f"frame rate {text} is outside 1 to 240")
    return fps


def parse_size(text):
    try:
        width, height = (int(part) for part in text.lower().split("x"))
    except ValueError as error:
        raise argparse.ArgumentTypeError(f"not a size like 320x240: {text!r}") from error
    if width % 2 or height % 2 or width < 160 or height < 120:
        raise argparse.ArgumentTypeError("width and height must be even and at least 160x120")
    return width, height


class Motion:
    """Smooth head, eye and brow movement over time."""

    def __init__(self, rng, duration_s):
        self._waves = {
            name: self._make_waves(rng)
            for name in ("roll", "yaw", "pitch", "shift_x", "shift_y", "scale", "brow")
        }
        self._rest = {
            "roll": rng.normal(0, 0.03),
            "yaw": rng.normal(0, 0.05),
            "pitch": rng.normal(0, 0.03),
            "shift_x": rng.uniform(-0.25, 0.25),
            "shift_y": rng.uniform(-0.12, 0.08),
        }
        self._liveliness = rng.uniform(0.4, 1.3)
        self._blinks = []
        time_s = rng.uniform(0.6, 3.0)
        while time_s < duration_s:
            self._blinks.append((time_s, rng.uniform(0.055, 0.085)))
            time_s += rng.uniform(1.6, 4.5)
        self._glances = []
        time_s = 0.0
        while time_s < duration_s:
            self._glances.append((time_s, rng.normal(0, 0.018), rng.normal(0, 0.008)))
            time_s += rng.uniform(0.5, 2.0)

    @staticmethod
    def _make_waves(rng):
        return [(rng.uniform(0.08, 0.7), rng.uniform(0, 2 * np.pi), rng.uniform(0.4, 1)) for _ in range(3)]

    def _wave(self, name, time_s):
        parts = self._waves[name]
        total = sum(size * np.sin(2 * np.pi * rate * time_s + phase) for rate, phase, size in parts)
        return float(self._liveliness * total / len(parts))

    def pose(self, time_s):
        return Pose(
            roll=self._rest["roll"] + 0.035 * self._wave("roll", time_s),
            yaw=self._rest["yaw"] + 0.07 * self._wave("yaw", time_s),
            pitch=self._rest["pitch"] + 0.05 * self._wave("pitch", time_s),
            shift_x=self._rest["shift_x"] + 0.06 * self._wave("shift_x", time_s),
            shift_y=self._rest["shift_y"] + 0.04 * self._wave("shift_y", time_s),
            scale=1 + 0.02 * self._wave("scale", time_s),
        )

    def eyes(self, time_s):
        lid = 1.0
        for centre, width in self._blinks:
            lid = min(lid, 1 - float(np.exp(-(((time_s - centre) / width) ** 4))))
        gaze_x = gaze_y = 0.0
        for start, x, y in self._glances:
            if start <= time_s:
                gaze_x, gaze_y = x, y
        return EyeState(lid, gaze_x, gaze_y, 0.03 * self._wave("brow", time_s))


def move_sound(samples, offset_samples):
    """Sound early by `offset_samples` (late if negative); same length, silence fills the gap."""
    moved = np.zeros_like(samples)
    if offset_samples >= 0:
        moved[: len(samples) - offset_samples] = samples[offset_samples:]
    else:
        moved[-offset_samples:] = samples[:offset_samples]
    return moved


def opening_lag(opening, samples, rate_hz):
    """Lag in ms (10 ms steps, refined by a parabola) and correlation of opening and loudness."""
    loud = loudness_db(samples, rate_hz)
    count = min(len(loud), len(opening))
    reach = 30
    scores = []
    for lag in range(-reach, reach + 1):
        a = opening[max(0, lag) : count + min(0, lag)]
        b = loud[max(0, -lag) : count + min(0, -lag)]
        scores.append(np.corrcoef(a, b)[0, 1])
    best = int(np.argmax(scores))
    shift = 0.0
    if 0 < best < len(scores) - 1:
        left, mid, right = scores[best - 1 : best + 2]
        shift = 0.5 * (left - right) / (left - 2 * mid + right)
    return (best - reach + shift) * 10.0, float(scores[best])


def make_clip(plan, path):
    """Renders and encodes one clip."""
    spoken = synthesise(plan.text, plan.voice, plan.words_per_minute, plan.pitch)
    rng = np.random.default_rng([plan.seed, 2])
    lead_s = _MARGIN_S + max(0.0, plan.offset_ms / 1000)
    tail_s = _MARGIN_S + max(0.0, -plan.offset_ms / 1000)
    frames = int(np.ceil((lead_s + spoken.duration_s + tail_s) * plan.fps))
    duration_s = float(frames / plan.fps)
    track = mouth_track(
        spoken,
        rng,
        lead_s,
        duration_s,
        effort=rng.uniform(0.8, 1.2),
        kernel_s=rng.uniform(0.080, 0.120),
    )

    rate_hz = 2 * spoken.rate_hz
    total = int(np.ceil(duration_s * rate_hz))
    sound = np.zeros(total)
    voice = double_rate(spoken.samples)
    start = int(round(lead_s * rate_hz))
    sound[start : start + len(voice)] = voice * (rng.uniform(0.35, 0.8) / np.abs(voice).max())
    hundredths = np.arange(0, duration_s, 0.010)
    opening = np.interp(hundredths, np.arange(len(track.values["open"])) / 1000, track.values["open"])
    lag_ms, correlation = opening_lag(opening, sound, rate_hz)
    sound = move_sound(sound, int(round(plan.offset_ms * rate_hz / 1000)))
    sound += plan.noise * rng.uniform(0.0003, 0.0020) * rng.standard_normal(total)

    look = FaceLook(np.random.default_rng([plan.seed, 3]))
    width, height = plan.size
    eye_distance_px = min(height * rng.uniform(0.205, 0.255), width * 0.22)
    renderer = FaceRenderer(look, plan.size, eye_distance_px)
    motion = Motion(np.random.default_rng([plan.seed, 4]), duration_s)
    grain = plan.noise * rng.uniform(0.8, 2.2)
    rows = []

    def pictures():
        clean_width = width * height * 3
        bank = rng.normal(0, grain, 3 * clean_width + 1).astype(np.float32)
        for index in range(frames):
            time_s = float(index / plan.fps)
            mouth = track.at(time_s)
            rows.append((time_s, mouth["open"], mouth["width"]))
            picture = renderer.render(mouth, motion.eyes(time_s), motion.pose(time_s))
            first = int(rng.integers(2 * clean_width))
            picture += bank[first : first + clean_width].reshape(height, width, 3)
            yield np.clip(picture + 0.5, 0, 255).astype(np.uint8)

    write_film(path, pictures(), plan.size, plan.fps, sound, rate_hz, plan.crf)
    return ClipFacts(duration_s, frames, lag_ms, correlation, rows)


def random_speech(rng, voice, words_per_minute, pitch):
    """Random sentences that last between about 3.3 and 7.3 seconds."""
    enough_s = rng.uniform(3.3, 5.5)
    text = ""
    for sentence in random_sentences(rng, voice):
        longer = f"{text} {sentence}".strip()
        seconds = synthesise(longer, voice, words_per_minute, pitch).duration_s
        if text and seconds > 7.3:
            break
        text = longer
        if seconds >= enough_s:
            break
    return text


def plan_clip(arguments, seed, offset_ms):
    """Options that were not given are drawn from the seed."""
    rng = np.random.default_rng([seed, 1])
    voice = random_voice(rng)
    rate, pitch = int(rng.integers(135, 200)), int(rng.integers(25, 80))
    crf = rng.integers(20, 29)
    if arguments.voice:
        voice = arguments.voice
    rate = arguments.rate if arguments.rate is not None else rate
    pitch = arguments.pitch if arguments.pitch is not None else pitch
    if not arguments.text and not has_sentences(voice):
        raise RuntimeError(f"no sentences for voice {voice!r} here: give --text")
    text = arguments.text or random_speech(rng, voice, rate, pitch)
    return ClipPlan(
        text=text,
        voice=voice,
        words_per_minute=rate,
        pitch=pitch,
        seed=seed,
        fps=arguments.fps,
        size=arguments.size,
        offset_ms=offset_ms,
        noise=arguments.noise,
        crf=int(arguments.crf if arguments.crf is not None else crf),
    )


def write_track(path, rows):
    with open(path, "w", encoding="utf-8") as out:
        out.write("time_s\topening\twidth\n")
        for time_s, opening, width in rows:
            out.write(f"{time_s:.6f}\t{opening:.5f}\t{width:.4f}\n")


def write_truth(path, plan, facts, command):
    truth = {
        "offset_ms": plan.offset_ms,
        "direction": _direction(plan.offset_ms),
        "text": plan.text,
        "voice": plan.voice,
        "seed": plan.seed,
        "fps": str(plan.fps),
        "size": list(plan.size),
        "frames": facts.frames,
        "duration_s": round(facts.duration_s, 6),
        "opening_lags_loudness_ms_at_offset_0": round(facts.opening_lag_ms, 1),
        "generator_command": command,
    }
    with open(path, "w", encoding="utf-8") as out:
        json.dump(truth, out, ensure_ascii=False, indent=2)
        out.write("\n")


def _direction(offset_ms):
    if offset_ms == 0:
        return "in_sync"
    return "sound_early" if offset_ms > 0 else "sound_late"


def run_single(arguments, command):
    plan = plan_clip(arguments, arguments.seed, arguments.offset_ms)
    facts = make_clip(plan, arguments.output)
    base = os.path.splitext(arguments.output)[0]
    write_truth(base + ".json", plan, facts, command)
    if arguments.track:
        write_track(arguments.track, facts.rows)
    print(
        f"{arguments.output}: {facts.duration_s:.2f} s, offset {plan.offset_ms:+g} ms; at offset 0 the "
        f"drawn opening lags loudness by {facts.opening_lag_ms:+.1f} ms (r = {facts.opening_correlation:.2f})"
    )


def run_batch(arguments):
    os.makedirs(arguments.output, exist_ok=True)
    lags = []
    with open(os.path.join(arguments.output, "clips.tsv"), "w", encoding="utf-8") as table:
        table.write("clip\tduration_s\tfps\tvoice\toffset_ms\tseed\n")
        for index in range(arguments.batch):
            seed = arguments.seed + index
            plan = plan_clip(arguments, seed, arguments.offset_ms)
            name = f"clip_{seed:06d}"
            facts = make_clip(plan, os.path.join(arguments.output, name + ".mp4"))
            write_track(os.path.join(arguments.output, name + ".mouth.tsv"), facts.rows)
            lags.append(facts.opening_lag_ms)
            table.write(
                f"{name}.mp4\t{facts.duration_s:.6f}\t{plan.fps}\t{plan.voice}\t{plan.offset_ms:g}\t{seed}\n"
            )
            table.flush()
    print(
        f"{arguments.batch} clips; at offset 0 the drawn opening lags loudness by "
        f"{np.median(lags):+.1f} ms (median; middle half {np.percentile(lags, 25):+.1f} to "
        f"{np.percentile(lags, 75):+.1f} ms)"
    )


def parse_arguments(argv):
    parser = argparse.ArgumentParser(
        description="Makes a film of a talking face with a known audio/video offset."
    )
    what = parser.add_mutually_exclusive_group()
    what.add_argument("--sample", metavar="FILE", help="make the sample of the repository")
    what.add_argument("--batch", type=int, metavar="N", help="make N random clips of about 4 to 8 s")
    text = parser.add_mutually_exclusive_group()
    text.add_argument("--text", help="what is said (default: random sentences)")
    text.add_argument("--text-file", metavar="FILE", help="UTF-8 file with what is said")
    parser.add_argument("--voice", help="espeak-ng voice, for instance en-us+f2 (default: random)")
    parser.add_argument("--rate", type=int, help="words per minute (default: random)")
    parser.add_argument("--pitch", type=int, help="0 to 99 (default: random)")
    parser.add_argument("--seed", type=int, default=0, help="decides face, light, movement (default 0)")
    parser.add_argument("--fps", type=parse_fps, default=Fraction(25), help="25, 29.97, 24000/1001 ...")
    parser.add_argument("--size", type=parse_size, default=(320, 240), metavar="WxH")
    parser.add_argument("--offset-ms", type=float, default=0.0, help="above 0: sound early")
    parser.add_argument("--noise", type=float, default=1.0, help="strength of picture and sound noise")
    parser.add_argument("--crf", type=int, help="H.264 quality (default: random, 20 to 28)")
    parser.add_argument("--track", metavar="FILE", help="also write the drawn mouth opening as TSV")
    parser.add_argument("--output", metavar="PATH", help="film, or folder with --batch")
    arguments = parser.parse_args(argv)
    if arguments.sample:
        return parse_arguments([*SAMPLE_OPTIONS, "--output", arguments.sample])
    if not arguments.output:
        parser.error("--output is needed")
    if arguments.text_file:
        with open(arguments.text_file, encoding="utf-8") as source:
            arguments.text = " ".join(source.read().split())
    return arguments


def main(argv):
    cv2.setNumThreads(1)
    arguments = parse_arguments(argv)
    try:
        if arguments.batch is not None:
            run_batch(arguments)
        else:
            run_single(arguments, _command(argv))
    except (RuntimeError, OSError) as error:
        print(f"make_talking_face: {error}", file=sys.stderr)
        return 1
    return 0


def _command(argv):
    """The command to repeat, from the top of the repository; folders of this machine left out."""
    if any(word.split("=")[0] == "--sample" for word in argv):
        return shlex.join(["python3", _SCRIPT, "--sample", _SAMPLE])
    words = [os.path.basename(word) if os.path.isabs(word) else word for word in argv]
    return shlex.join(["python3", _SCRIPT, *words])



if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
