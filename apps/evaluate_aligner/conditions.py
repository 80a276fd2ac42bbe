# Copyright 2026 The av_fusion authors. SPDX-License-Identifier: Apache-2.0
"""Conditions of the part robustness: a clip with worse sound or with a worse picture.

Neither sound nor picture moves in any of them. Sound is worked on as 16 kHz, mono; the picture is
copied then. What is coded is decoded again, so no codec delay is left to a container. Pictures keep
their times in strong compression too, but the coder leaves parts of them as they were before: what
is seen of a mouth may lag by a picture or two.

A ratio in dB is that of the mean powers of the whole clip, its silence included: while somebody
speaks, speech is a little stronger than the ratio says. A clip has the same babble and the same
music at all ratios.
"""

import array
import functools
import math
import pathlib
import sys

import clips as clip_list
import media
import refusal
import sounds

CLEAN = "clean"
RATIOS_DB = (20, 10, 5, 0)
TALKERS = (3, 4)        # voices of babble: one of these numbers
MUSIC_S = 8.0           # longer clips hear it again
RT60_S = 0.6            # a room's echo loses 60 dB in this time
SMALLER = 4
SMALL_CRF = "4"         # a block is a larger part of a small face, so its coding has to be finer
STRONG_CRF = "40"
LIGHT = (1.2, 0.25)     # factor of brightness at the left and the right edge
# Name: encoder, container that states the encoder's delay.
CODECS = {"AAC 32 kbit/s": ("aac", "mp4"), "Opus 32 kbit/s": ("libopus", "ogg"),
          "MP3 32 kbit/s": ("libmp3lame", "mp3")}


class Maker:
    """What the functions of the conditions work with, for one file."""

    def __init__(self, settings, clips, clip, folder):
        self.settings, self.clips, self.clip = settings, clips, clip
        self.folder = pathlib.Path(folder)

    def path(self):
        return pathlib.Path(self.settings.data) / self.clip.path

    def random(self, purpose):
        return clip_list.random_for(self.settings, "%s of %s" % (purpose, self.clip.path))


def make(maker, condition, output):
    """Writes the clip in this condition to `output`."""
    path = maker.path()
    if condition == CLEAN:
        media.make_shifted(path, 0.0, output)
    elif condition in SOUNDS:
        sound = clip_sound(path)
        media.make_with_sound(path, SOUNDS[condition](maker, sound), output)
    else:
        PICTURES[condition](path, output)


def clip_sound(path):
    """The sound of a clip from time 0 to its end."""
    return media.read_sound(path, media.steady_sound(media.probe(path)["duration_s"]))


# ---------------------------------------------------------------- arithmetic of sound

def power(samples):
    return sum(sample * sample for sample in samples) / max(1, len(samples))


def mixed(sound, noise, ratio_db):
    """`sound` with `noise`, that much softer in mean power."""
    if not power(sound) or not power(noise):
        raise RuntimeError("there is no ratio of sound and noise: one of them is silence")
    factor = math.sqrt(power(sound) / power(noise) / 10 ** (ratio_db / 10.0))
    return array.array("f", (one + factor * other for one, other in zip(sound, noise)))


def sum_of_equals(parts):
    """The sum of sounds of equal length, each brought to the same power."""
    factors = [1.0 / math.sqrt(power(part) or 1.0) for part in parts]
    return [sum(factor * value for factor, value in zip(factors, values))
            for values in zip(*parts)]


def fit(samples, count):
    """The first `count` samples; silence follows where there are fewer."""
    return array.array("f", samples[:count]) + array.array("f", [0.0] * (count - len(samples)))


def rounds(samples, start, count):
    """`count` samples from `start` on, round and round."""
    once = samples[start:] + samples[:start]
    return (once * (count // len(once) + 1))[:count]


# ---------------------------------------------------------------- conditions of sound

def speakers_of(clips):
    """{speaker: clips}, whatever their source."""
    groups = {}
    for clip in clips:
        groups.setdefault(clip.speaker, []).append(clip)
    return groups


def can_babble(clips):
    return len(speakers_of(clips)) > max(TALKERS)


def talkers_for(maker):
    """Clips of three or four other speakers, none of them with the sound of this clip."""
    rng = maker.random("babble")
    groups = speakers_of(maker.clips)
    groups.pop(maker.clip.speaker, None)
    names = sorted(groups)
    rng.shuffle(names)
    count = rng.choice(TALKERS)
    own = media.loudness_db(maker.path())
    found = []
    for name in names:
        clip = rng.choice(groups[name])
        other = media.loudness_db(pathlib.Path(maker.settings.data) / clip.path)
        if refusal.alike(own, other) <= refusal.SAME_SOUND:
            found.append(clip)
        if len(found) == count:
            return found
    raise RuntimeError("the list has too few other speakers for babble")


@functools.lru_cache(maxsize=4)
def babble_of(settings, clips, clip, count):
    """Other speakers at once, equally loud, each from a moment of their own on."""
    maker = Maker(settings, clips, clip, "")
    rng = maker.random("moments of babble")
    parts = []
    for talker in talkers_for(maker):
        sound = clip_sound(pathlib.Path(settings.data) / talker.path)
        parts.append(rounds(sound, rng.randrange(len(sound)), count))
    return sum_of_equals(parts)


@functools.lru_cache(maxsize=4)
def music_of(settings, clip, count):
    """Chords, a melody and drums at once."""
    rng = Maker(settings, (), clip, "").random("music")
    duration_s = min(count / media.SOUND_HZ, MUSIC_S)
    tune = sum_of_equals([play(rng, duration_s)
                          for play in (sounds.chords, sounds.arpeggio, sounds.drums)])
    return rounds(tune, 0, count)


def babble(maker, sound):
    return babble_of(maker.settings, maker.clips, maker.clip, len(sound))


def music(maker, sound):
    return music_of(maker.settings, maker.clip, len(sound))


def with_noise(noise, ratio_db):
    return lambda maker, sound: mixed(sound, noise(maker, sound), ratio_db)


def room(rng):
    """What a hand clap sounds like in a room: the clap itself, then as much power of echo."""
    decay = math.log(1000.0) / (RT60_S * media.SOUND_HZ)
    echo = [rng.gauss(0, 1) * math.exp(-decay * index)
            for index in range(1, int(RT60_S * media.SOUND_HZ))]
    total = math.sqrt(sum(value * value for value in echo))
    return [1.0] + [value / total for value in echo]


def reverberation(maker, sound):
    """The sound in a room, as strong as it was."""
    echo = media.sound_input(room(maker.random("room")), maker.folder / "room.raw")
    wet = maker.folder / "wet.wav"
    # Soft, and in floating point: how loud `afir` is differs between versions.
    media.ffmpeg(media.sound_input(sound, maker.folder / "dry.raw") + echo
                 + ["-filter_complex", "[0:a][1:a]afir[a]", "-map", "[a]", "-c:a", "pcm_f32le"],
                 wet, "wav")
    samples = fit(media.read_sound(wet), len(sound))
    factor = math.sqrt(power(sound) / (power(samples) or 1.0))
    return array.array("f", (factor * sample for sample in samples))


def telephone(maker, sound):
    """300 to 3400 Hz, G.711. The filters run forwards and backwards, so they delay nothing."""
    band = "highpass=f=300,lowpass=f=3400,areverse"
    return coded(maker, sound, ["-af", band + "," + band, "-ar", "8000", "-c:a", "pcm_mulaw"],
                 "wav")


def coded(maker, sound, options, container):
    """`sound` coded and decoded. The decoder drops what the container calls encoder delay."""
    file = maker.folder / ("coded." + container)
    media.ffmpeg(media.sound_input(sound, maker.folder / "plain.raw") + options, file, container)
    return fit(media.read_sound(file), len(sound))


def with_codec(encoder, container):
    return lambda maker, sound: coded(maker, sound, ["-c:a", encoder, "-b:a", "32k"], container)


SOUNDS = {"%s %d dB" % (noise.__name__, ratio_db): with_noise(noise, ratio_db)
          for noise in (babble, music) for ratio_db in RATIOS_DB}
SOUNDS.update({"reverberation": reverberation, "telephone": telephone})
SOUNDS.update((name, with_codec(*codec)) for name, codec in CODECS.items())


# ---------------------------------------------------------------- conditions of the picture

def worse_picture(clip, options, output):
    """Writes `clip` with its picture coded by `options`."""
    sound = media.shift_filter(0.0, media.probe(clip)["duration_s"])
    media.ffmpeg(["-i", "file:" + str(clip)] + options + ["-map", "0:a:0", "-af", sound]
                 + media.CODE_SOUND, output)


def coded_picture(clip, crf, output, picture_filter="null"):
    # The last `-crf` is the one that counts.
    worse_picture(clip, ["-map", "0:v:0", "-vf", picture_filter] + media.CODE_PICTURE
                  + ["-crf", crf], output)


def small(clip, output):
    """A quarter as wide and as high."""
    found = media.probe(clip)
    size = [media.even(max(2 * SMALLER, found[side]) / SMALLER) for side in ("width", "height")]
    coded_picture(clip, SMALL_CRF, output, "scale=%d:%d" % tuple(size))


def compressed(clip, output):
    """Coded so strongly that blocks show."""
    coded_picture(clip, STRONG_CRF, output)


def side_light(clip, output):
    """Brightness falls from left to right."""
    found = media.probe(clip)
    size = media.even(found["width"]), media.even(found["height"])
    # A picture of factors, the largest of them white; the product is brought back after it.
    factor = "255*(1-%g*X/(W-1))" % (1 - LIGHT[1] / LIGHT[0])
    light = "nullsrc=size=%dx%d:rate=25:duration=0.04,format=gbrp,geq=r='%s':g='%s':b='%s'" % (
        size + (factor,) * 3)
    brighter = "lutrgb=" + ":".join("%s='min(255,val*%g)'" % (band, LIGHT[0]) for band in "rgb")
    graph = ("[0:v:0]scale=%d:%d,setsar=1,format=gbrp[a];[1:v]setsar=1[b];"
             "[a][b]blend=all_mode=multiply,%s,format=yuv420p[v]" % (size + (brighter,)))
    worse_picture(clip, ["-f", "lavfi", "-i", light, "-filter_complex", graph, "-map", "[v]"]
                  + media.CODE_PICTURE, output)


PICTURES = {"small picture": small, "strong compression": compressed, "side light": side_light}
NAMES = [CLEAN] + list(SOUNDS) + list(PICTURES)


# ---------------------------------------------------------------- what can be made here

def encoders():
    """The names of the encoders that the ffmpeg at hand has."""
    listed = media.run(["ffmpeg", "-hide_banner", "-encoders"]).stdout.decode("utf-8", "replace")
    return {line.split()[1] for line in listed.splitlines() if len(line.split()) > 1}


def possible(clips):
    """The conditions that can be made of these clips; says which cannot."""
    missing = {}
    if not can_babble(clips):
        missing = {name: "the list has fewer than %d speakers" % (max(TALKERS) + 1)
                   for name in NAMES if name.startswith(babble.__name__)}
    known = encoders()
    missing.update((name, "ffmpeg has no " + encoder) for name, (encoder, _) in CODECS.items()
                   if encoder not in known)
    for name, reason in missing.items():
        print("robustness: %s is left out, %s" % (name, reason), file=sys.stderr)
    return [name for name in NAMES if name not in missing]
