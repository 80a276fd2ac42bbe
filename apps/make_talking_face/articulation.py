"""Mouth movement from phoneme times.

How zero is defined. The mouth is a function of the time of the sound, and a picture with time
stamp t shows the mouth at t. The lips part at the very instant of the burst of p, and of the
release of b and m; they have been shut since the sound of the phoneme before stopped (p) or the
murmur began (b, m). A vowel's target holds around the vowel's centre. All smoothing is done with
kernels symmetric in time, so nothing here delays or advances the picture.
"""

from dataclasses import dataclass

import numpy as np

RATE_HZ = 1000

PARAMETERS = ("open", "width", "round", "press", "tuck", "teeth", "tongue")


@dataclass(frozen=True)
class Viseme:
    """Mouth target. `open` is the gap between the lips in eye distances, `width` is relative to
    the mouth at rest, the others run from 0 to 1. `strength` says how firmly the target is
    held against its neighbours."""

    open: float
    width: float = 1.0
    round: float = 0.0
    press: float = 0.0
    tuck: float = 0.0
    teeth: float = 0.4
    tongue: float = 0.1
    strength: float = 1.0


_REST = Viseme(0.0, teeth=0.2, strength=0.8)
_SHORT_PAUSE = Viseme(0.02, strength=0.3)
_BILABIAL = Viseme(0.0, press=1.0, strength=1.2)
_LABIODENTAL = Viseme(0.03, width=1.02, tuck=1.0, teeth=1.0, strength=1.6)
_SIBILANT = Viseme(0.055, width=1.08, teeth=1.0, strength=1.0)
_PALATAL_SIBILANT = Viseme(0.075, width=0.84, round=0.6, teeth=0.9, strength=1.1)
_DENTAL = Viseme(0.075, teeth=0.6, tongue=1.0, strength=0.9)
_ALVEOLAR = Viseme(0.065, width=1.02, teeth=0.6, tongue=0.7, strength=0.6)
_LATERAL = Viseme(0.095, teeth=0.5, tongue=0.9, strength=0.6)
_RHOTIC = Viseme(0.075, width=0.90, round=0.3, tongue=0.5, strength=0.6)
_VELAR = Viseme(0.085, tongue=0.3, strength=0.4)
_GLOTTAL = Viseme(0.10, strength=0.1)
_PALATAL_GLIDE = Viseme(0.075, width=1.12, teeth=0.6, strength=0.7)
_LABIAL_GLIDE = Viseme(0.035, width=0.66, round=1.0, teeth=0.0, strength=1.3)

_CONSONANTS = {
    "pbmɓʙ": _BILABIAL,
    "fvɱʋⱱ": _LABIODENTAL,
    "szɕʑ": _SIBILANT,
    "ʃʒʂʐ": _PALATAL_SIBILANT,
    "θð": _DENTAL,
    "tdnɗʈɖɳ": _ALVEOLAR,
    "lɫɭʎɬɮ": _LATERAL,
    "rɹɾɻɽʁʀ": _RHOTIC,
    "kgɡŋxɣqχcɟɲɢɴ": _VELAR,
    "hɦħʕʔʜ": _GLOTTAL,
    "jçʝ": _PALATAL_GLIDE,
    "wɥʍɰβɸ": _LABIAL_GLIDE,
}

_VOWELS = {
    "aæɐä": Viseme(0.250, width=1.04, teeth=0.7, strength=1.2),
    "ɑʌɒ": Viseme(0.235, width=0.96, round=0.1, teeth=0.5, strength=1.2),
    "ɛɜɝ": Viseme(0.185, width=1.07, teeth=0.7, strength=1.1),
    "e": Viseme(0.150, width=1.12, teeth=0.7, strength=1.0),
    "iɪɨᵻ": Viseme(0.105, width=1.17, teeth=0.8, strength=1.0),
    "əɘɚɵ": Viseme(0.125, width=1.00, strength=0.6),
    "ɯɤ": Viseme(0.105, width=1.02, strength=0.9),
    "ɔœɶ": Viseme(0.190, width=0.82, round=0.6, teeth=0.2, strength=1.2),
    "oøɞ": Viseme(0.150, width=0.74, round=0.9, teeth=0.1, strength=1.2),
    "uyʊʏʉ": Viseme(0.080, width=0.66, round=1.0, teeth=0.0, strength=1.2),
}

_CONSONANT_OF = {c: v for chars, v in _CONSONANTS.items() for c in chars}
_VOWEL_OF = {c: v for chars, v in _VOWELS.items() for c in chars}


@dataclass(frozen=True)
class MouthTrack:
    """Mouth parameters at 1 kHz, and the times of the lip closures in seconds."""

    values: dict
    closures: tuple

    def at(self, time_s):
        index = float(np.clip(time_s * RATE_HZ, 0, len(self.values["open"]) - 1))
        low = int(index)
        high = min(low + 1, len(self.values["open"]) - 1)
        mix = index - low
        return {k: float(v[low] * (1 - mix) + v[high] * mix) for k, v in self.values.items()}


def mouth_track(speech, rng, lead_s, duration_s, effort=1.0, kernel_s=0.100):
    """Mouth of the whole clip; `lead_s` is the time in the clip at which the speech begins."""
    count = int(np.ceil(duration_s * RATE_HZ)) + 2
    targets = {name: np.full(count, getattr(_REST, name)) for name in PARAMETERS}
    strength = np.full(count, _REST.strength)
    for start_s, end_s, viseme in _segments(speech.phonemes):
        begin = max(0, int(round((lead_s + start_s) * RATE_HZ)))
        end = min(count, int(round((lead_s + end_s) * RATE_HZ)))
        vary = rng.uniform(0.88, 1.12)
        for name in PARAMETERS:
            targets[name][begin:end] = getattr(viseme, name)
        targets["open"][begin:end] *= vary * effort
        strength[begin:end] = viseme.strength

    kernel = np.hanning(int(round(kernel_s * RATE_HZ)) | 1)
    kernel /= kernel.sum()
    weight = _smooth(strength, kernel)
    values = {name: _smooth(targets[name] * strength, kernel) / weight for name in PARAMETERS}

    closures = tuple(
        (lead_s + shut, lead_s + release) for shut, release in _closures(speech)
    )
    _shut_lips(values, closures, count)
    return MouthTrack(values, closures)


def _smooth(values, kernel):
    half = len(kernel) // 2
    return np.convolve(np.pad(values, half, mode="edge"), kernel, mode="valid")


def _segments(phonemes):
    """Yields (start, end, viseme); a diphthong becomes two halves."""
    for phoneme in phonemes:
        length = phoneme.end_s - phoneme.start_s
        vowels = [c for c in phoneme.ipa if c in _VOWEL_OF]
        consonants = [c for c in phoneme.ipa if c in _CONSONANT_OF]
        if not vowels and not consonants:
            yield phoneme.start_s, phoneme.end_s, _REST if length > 0.15 else _SHORT_PAUSE
        elif vowels:
            share = length / len(vowels)
            for i, vowel in enumerate(vowels):
                start = phoneme.start_s + i * share
                yield start, start + share, _VOWEL_OF[vowel]
        else:
            yield phoneme.start_s, phoneme.end_s, _CONSONANT_OF[consonants[-1]]


def _closures(speech):
    """(shut, release) of every bilabial in seconds of the speech, read from the sound itself.

    espeak-ng marks p at its burst, after the silence of the closure; b and m are marked at the
    start of the closure and contain the release.
    """
    hop = int(0.005 * speech.rate_hz)
    frames = len(speech.samples) // hop
    level = np.sqrt((speech.samples[: frames * hop].reshape(frames, hop) ** 2).mean(axis=1))
    for phoneme in speech.phonemes:
        first = phoneme.ipa[:1]
        begin = min(int(round(phoneme.start_s * speech.rate_hz / hop)), frames - 1)
        end = min(int(round(phoneme.end_s * speech.rate_hz / hop)), frames)
        if first == "p":
            shut = begin
            while shut > 0 and begin - shut < 24 and level[shut - 1] < 0.004:
                shut -= 1
            yield min(shut * 0.005, phoneme.start_s - 0.030), phoneme.start_s
        elif first in ("b", "m", "ɓ") and end - begin >= 2:
            inside = level[begin:end]
            quietest = int(np.argmin(inside))
            louder = np.nonzero(inside[quietest:] > 1.6 * inside[quietest] + 0.002)[0]
            if len(louder):
                release = (begin + quietest + int(louder[0])) * 0.005
            else:
                release = phoneme.end_s - 0.010
            yield phoneme.start_s, max(release, phoneme.start_s + 0.025)


def _shut_lips(values, closures, count):
    closing_s, opening_s = 0.060, 0.060
    time_s = np.arange(count) / RATE_HZ
    gate = np.ones(count)
    for shut, release in closures:
        before = np.clip((shut - time_s) / closing_s, 0, 1)
        after = np.clip((time_s - release) / opening_s, 0, 1)
        reach = np.maximum(before, after)
        gate = np.minimum(gate, np.sin(reach * np.pi / 2))
    values["open"] = values["open"] * gate
    values["press"] = np.maximum(values["press"], 0.9 * (1 - gate))
