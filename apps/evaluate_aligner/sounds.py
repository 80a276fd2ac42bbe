# Copyright 2026 The av_fusion authors. SPDX-License-Identifier: Apache-2.0
"""Music for the parts refusal and robustness, synthesised: 16 kHz, mono."""

import array
import math
import sys
import wave

RATE_HZ = 16000
# Semitones above the root of four chords in a row, each a beat bar of music knows.
CHORDS = ((0, 4, 7), (9, 12, 16), (5, 9, 12), (7, 11, 14))


def write_wav(path, samples):
    """Writes samples, scaled to a peak of 0.5."""
    peak = max(1e-9, max(abs(sample) for sample in samples))
    values = array.array("h", (int(16383 * sample / peak) for sample in samples))
    if sys.byteorder == "big":
        values.byteswap()
    with wave.open(str(path), "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(RATE_HZ)
        file.writeframes(values.tobytes())


def add(samples, start_s, sound):
    """Adds `sound` to `samples` from `start_s` on, as far as they reach."""
    start = int(start_s * RATE_HZ)
    for index, value in enumerate(sound[:max(0, len(samples) - start)]):
        samples[start + index] += value


def tone(pitch_hz, duration_s, fade_s):
    """A plucked tone with four overtones."""
    step = 2 * math.pi * pitch_hz / RATE_HZ
    return [math.exp(-index / (fade_s * RATE_HZ))
            * sum(math.sin(n * step * index) / n ** 1.5 for n in range(1, 5))
            for index in range(int(duration_s * RATE_HZ))]


def pitch(root_hz, semitones):
    return root_hz * 2 ** (semitones / 12.0)


def chords(rng, duration_s):
    """Held chords, one after the other."""
    samples = [0.0] * int(duration_s * RATE_HZ)
    root_hz, bar_s = rng.uniform(130, 220), rng.uniform(0.8, 1.6)
    for bar in range(int(duration_s / bar_s) + 1):
        for semitones in CHORDS[bar % len(CHORDS)]:
            add(samples, bar * bar_s, tone(pitch(root_hz, semitones), bar_s, bar_s))
    return samples


def arpeggio(rng, duration_s):
    """The notes of the chords, one at a time: as fast as syllables."""
    samples = [0.0] * int(duration_s * RATE_HZ)
    root_hz, step_s = rng.uniform(180, 330), rng.uniform(0.12, 0.25)
    for step in range(int(duration_s / step_s) + 1):
        chord = CHORDS[step // 6 % len(CHORDS)]
        add(samples, step * step_s, tone(pitch(root_hz, chord[step % 3]), step_s, step_s / 2))
    return samples


def drums(rng, duration_s):
    """Kick, snare and hi-hat."""
    samples = [0.0] * int(duration_s * RATE_HZ)
    beat_s = rng.uniform(0.4, 0.65)
    noise = [rng.uniform(-1, 1) for _ in range(RATE_HZ // 5)]
    kick = [math.exp(-i / 1200.0) * math.sin(180 * math.exp(-i / 800.0)) for i in range(4000)]
    snare = [0.8 * math.exp(-i / 700.0) * noise[i] for i in range(3000)]
    hat = [0.3 * math.exp(-i / 150.0) * noise[i] for i in range(800)]
    for beat in range(int(duration_s / beat_s) + 1):
        add(samples, beat * beat_s, snare if beat % 2 else kick)
        add(samples, beat * beat_s, hat)
        add(samples, (beat + 0.5) * beat_s, hat)
    return samples
