"""Speech from libespeak-ng, with the time of every phoneme."""

import ctypes
import json
import os
import subprocess
import sys
from dataclasses import dataclass

import numpy as np

_OUTPUT_SYNCHRONOUS = 2
_INIT_PHONEME_EVENTS = 0x0001
_INIT_PHONEME_IPA = 0x0002
_INIT_DONT_EXIT = 0x8000
_CHARS_UTF8 = 1
_PARAMETER_RATE, _PARAMETER_PITCH = 1, 3
_EVENT_LIST_TERMINATED, _EVENT_PHONEME = 0, 7


class _EventId(ctypes.Union):
    _fields_ = [
        ("number", ctypes.c_int),
        ("name", ctypes.c_char_p),
        ("string", ctypes.c_char * 8),
    ]


class _Event(ctypes.Structure):
    _fields_ = [
        ("type", ctypes.c_int),
        ("unique_identifier", ctypes.c_uint),
        ("text_position", ctypes.c_int),
        ("length", ctypes.c_int),
        ("audio_position", ctypes.c_int),
        ("sample", ctypes.c_int),
        ("user_data", ctypes.c_void_p),
        ("id", _EventId),
    ]


_Callback = ctypes.CFUNCTYPE(
    ctypes.c_int, ctypes.POINTER(ctypes.c_short), ctypes.c_int, ctypes.POINTER(_Event)
)


@dataclass(frozen=True)
class Phoneme:
    """One phoneme: IPA text ("" for a pause), start and end in seconds."""

    ipa: str
    start_s: float
    end_s: float


@dataclass(frozen=True)
class Speech:
    """Mono samples in -1..1 and the phonemes spoken in them."""

    samples: np.ndarray
    rate_hz: int
    phonemes: tuple

    @property
    def duration_s(self):
        return len(self.samples) / self.rate_hz


def _load_library():
    library = ctypes.CDLL("libespeak-ng.so.1")
    library.espeak_Synth.argtypes = [
        ctypes.c_char_p,
        ctypes.c_size_t,
        ctypes.c_uint,
        ctypes.c_int,
        ctypes.c_uint,
        ctypes.c_uint,
        ctypes.c_void_p,
        ctypes.c_void_p,
    ]
    return library


def synthesise(text, voice, words_per_minute=165, pitch=50, timeout_s=60):
    """Speaks `text`. Raises RuntimeError when espeak-ng cannot, for instance for want of the voice.

    Each call runs in a process of its own: the library keeps state from one text to the next, and
    stopping and starting it again in one process can hang.
    """
    request = json.dumps(
        {"text": text, "voice": voice, "words_per_minute": words_per_minute, "pitch": pitch}
    )
    done = subprocess.run(
        [sys.executable, os.path.abspath(__file__)],
        input=request.encode(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        timeout=timeout_s,
    )
    if done.returncode != 0:
        reason = done.stderr.decode("utf-8", "replace").strip().splitlines()[-1:]
        raise RuntimeError(f"speech with voice {voice!r} failed: {' '.join(reason)}")
    header, pcm = done.stdout.split(b"\n", 1)
    header = json.loads(header)
    samples = np.frombuffer(pcm, "<i2").astype(np.float64) / 32768.0
    marks = header["marks"]
    ends = [start for start, _ in marks[1:]] + [len(samples) / header["rate_hz"]]
    phonemes = tuple(
        Phoneme(_strip_marks(ipa), start, end)
        for (start, ipa), end in zip(marks, ends)
        if end > start
    )
    return Speech(samples, header["rate_hz"], phonemes)


def _strip_marks(ipa):
    return "".join(c for c in ipa if c not in "ˈˌ_:|'%,. ")


def _serve_request():
    """The child process: a request in JSON on stdin; a line of JSON, then PCM, on stdout."""
    request = json.load(sys.stdin)
    rate_hz, marks, pcm = _speak(**request)
    sys.stdout.buffer.write(json.dumps({"rate_hz": rate_hz, "marks": marks}).encode() + b"\n")
    sys.stdout.buffer.write(pcm.astype("<i2").tobytes())
    sys.stdout.buffer.flush()


def _speak(text, voice, words_per_minute, pitch):
    library = _load_library()
    rate_hz = library.espeak_Initialize(
        _OUTPUT_SYNCHRONOUS,
        0,
        None,
        _INIT_PHONEME_EVENTS | _INIT_PHONEME_IPA | _INIT_DONT_EXIT,
    )
    if rate_hz <= 0:
        raise RuntimeError("libespeak-ng could not be started")

    blocks, marks = [], []

    def collect(wav, count, events):
        if wav and count > 0:
            blocks.append(np.ctypeslib.as_array(wav, (count,)).copy())
        index = 0
        while events[index].type != _EVENT_LIST_TERMINATED:
            event = events[index]
            if event.type == _EVENT_PHONEME:
                raw = ctypes.string_at(ctypes.addressof(event.id), 8).split(b"\0")[0]
                marks.append((event.sample / rate_hz, raw.decode("utf-8", "ignore")))
            index += 1
        return 0

    callback = _Callback(collect)
    library.espeak_SetSynthCallback(callback)
    if library.espeak_SetVoiceByName(voice.encode()) != 0:
        raise ValueError(f"espeak-ng has no voice named {voice!r}")
    library.espeak_SetParameter(_PARAMETER_RATE, int(words_per_minute), 0)
    library.espeak_SetParameter(_PARAMETER_PITCH, int(pitch), 0)
    encoded = text.encode() + b"\0"
    library.espeak_Synth(encoded, len(encoded), 0, 1, 0, _CHARS_UTF8, None, None)
    library.espeak_Synchronize()
    if not blocks:
        raise RuntimeError(f"no sound for {text!r}")
    return rate_hz, marks, np.concatenate(blocks)


def double_rate(samples):
    """Twice the sampling rate through a symmetric windowed sinc: linear phase, delay zero."""
    half_width = 48
    taps = np.arange(-half_width + 0.5, half_width)
    kernel = np.sinc(taps) * np.kaiser(len(taps), 8.0)
    between = np.convolve(samples, kernel / kernel.sum())[half_width : half_width + len(samples)]
    doubled = np.empty(2 * len(samples))
    doubled[0::2] = samples
    doubled[1::2] = between
    return doubled


def loudness_db(samples, rate_hz, hop_s=0.010, window_s=0.025):
    """Level in decibels (floor -60) of Hann windows centred at 0, hop, 2 hop ... seconds."""
    count = int(len(samples) / rate_hz / hop_s)
    half = int(window_s * rate_hz / 2)
    padded = np.pad(samples, half)
    window = np.hanning(2 * half + 1)
    window /= window.sum()
    power = np.empty(count)
    for i in range(count):
        start = int(round(i * hop_s * rate_hz))
        block = padded[start : start + 2 * half + 1]
        power[i] = np.dot(block * block, window[: len(block)])
    return 10 * np.log10(np.maximum(power, 1e-6))


if __name__ == "__main__":
    _serve_request()
