# Copyright 2026 The av_fusion authors. SPDX-License-Identifier: Apache-2.0
"""Part 3: files without a true offset. How many are called measured all the same?

Kinds of files, with the statuses that are right for them, are in KINDS. All are made from the clips
of the list and from synthesised sound and pictures, by seeded random numbers.
"""

import pathlib
import sys

import clips as clip_list
import floor
import media
import scores
import sounds
import tables

CONFIDENT = 0.5
MAX_S = 8.0
LOOP_PICTURES = 12  # of the kind "periodic", at 25 pictures a second: 0.48 s
LOOP_S = LOOP_PICTURES / 25.0
DRAWN_FACES = pathlib.Path(__file__).resolve().parent.parent / "make_talking_face"
SLOWER = 1.4
SAME_SOUND = 0.9    # correlation of loudness: two codings have 0.99, two sentences up to 0.85


class Maker:
    """What the functions of the kinds work with, for one file."""

    def __init__(self, arguments, clips, rng, index, output):
        self.arguments, self.clips, self.rng = arguments, clips, rng
        self.index, self.output = index, output
        self.folder = output.parent
        self.made_from = []

    def pick(self, candidates):
        clip = self.rng.choice(candidates)
        self.made_from.append(clip.path)
        return clip

    def of_another(self, clip):
        """A clip of another person, of the same source if there is one."""
        others = [one for one in self.clips if one.speaker != clip.speaker]
        near = [one for one in others if one.source == clip.source]
        if not others:
            raise RuntimeError("the list has clips of one speaker only")
        return self.pick(near or others)

    def variant(self, names):
        """Goes round `names` from file to file."""
        name = names[self.index % len(names)]
        self.made_from.append(name)
        return name

    def path(self, clip):
        return pathlib.Path(self.arguments.data) / clip.path

    def file(self, clip):
        return "file:" + str(self.path(clip))

    def is_same_sound(self, clip, other):
        return alike(media.loudness_db(self.path(clip)),
                     media.loudness_db(self.path(other))) > SAME_SOUND

    def join(self, picture, sound, duration_s, picture_filter="null"):
        """Writes the picture of one input with the sound of another (lists of ffmpeg options)."""
        duration_s = min(duration_s, MAX_S)
        media.ffmpeg(picture + sound + [
            "-map", "0:v:0", "-map", "1:a:0", "-vf", picture_filter, "-af",
            media.steady_sound(duration_s), "-t", "%.6f" % duration_s]
                     + media.CODE_PICTURE + media.CODE_SOUND, self.output)


def alike(loudness, other):
    """The largest correlation of two loudness curves at lags of up to 2 s; -1 if they are short."""
    best = -1.0
    for lag in range(-200, 201):
        begin, end = max(0, -lag), min(len(loudness), len(other) - lag)
        if 2 * (end - begin) >= min(len(loudness), len(other)) > 2:
            best = max(best, floor.correlation(loudness[begin:end], other[begin + lag:end + lag]))
    return best


# ---------------------------------------------------------------- kinds: other speech

def same_person(make):
    """Another sentence of the same person."""
    groups = [group for group in clip_list.by_speaker(make.clips).values() if len(group) > 1]
    pairs = [(one, other) for group in groups for one in group for other in group if one != other]
    make.rng.shuffle(pairs)
    # A list may have two codings of one clip: those are in sync.
    picture, sound = next((pair for pair in pairs if not make.is_same_sound(*pair)), (None, None))
    if picture is None:
        raise RuntimeError("no speaker has two clips with different sound")
    make.made_from += [picture.path, sound.path]
    make.join(["-i", make.file(picture)], ["-i", make.file(sound)],
              min(picture.duration_s, sound.duration_s))


def other_person(make):
    """A sentence of another person."""
    picture = make.pick(make.clips)
    sound = make.of_another(picture)
    make.join(["-i", make.file(picture)], ["-i", make.file(sound)],
              min(picture.duration_s, sound.duration_s))


def backwards_and_slow(make):
    """A mouth that moves, but not as in speech: picture backwards and slower, another's sentence.

    Stands for chewing and the like; it is not chewing.
    """
    picture = make.pick(make.clips)
    sound = make.of_another(picture)
    make.join(["-t", "%g" % MAX_S, "-i", make.file(picture)], ["-i", make.file(sound)],
              min(SLOWER * picture.duration_s, sound.duration_s),
              "reverse,setpts=%g*(PTS-STARTPTS),fps=25" % SLOWER)


def drawn_face(make):
    """A cartoon whose mouth follows other words than those heard."""
    picture, sound = make.folder / "picture.mp4", make.folder / "sound.mp4"
    draw(make, picture, [])
    draw(make, sound, ["--fps", "1", "--size", "160x120"])  # only its sound is wanted
    make.join(["-i", str(picture)], ["-i", str(sound)],
              min(media.probe(picture)["duration_s"], media.probe(sound)["duration_s"]))


def draw(make, output, options):
    seed = make.rng.randrange(10 ** 6, 10 ** 7)  # far from the seeds of training material
    make.made_from.append("drawn face %d" % seed)
    done = media.run([make.arguments.drawing_python, str(DRAWN_FACES / "make_talking_face.py"),
                      "--seed", str(seed), "--output", str(output)] + options)
    if done.returncode != 0:
        raise RuntimeError("make_talking_face.py: " + media.last_line(done.stderr))


# ---------------------------------------------------------------- kinds: no speech

def silence(make):
    """A talking face, digital silence."""
    picture = make.pick(make.clips)
    make.join(["-i", make.file(picture)],
              ["-f", "lavfi", "-i", "anullsrc=sample_rate=16000:channel_layout=mono"],
              picture.duration_s)


def noise(make):
    """A talking face, steady noise."""
    picture = make.pick(make.clips)
    source = "anoisesrc=sample_rate=16000:amplitude=0.2:color=%s:seed=%d" % (
        make.variant(["white", "pink"]), make.rng.randrange(10 ** 6))
    make.join(["-i", make.file(picture)], ["-f", "lavfi", "-i", source], picture.duration_s)


def music(make):
    """A talking face, synthesised music."""
    picture = make.pick(make.clips)
    play = {"chords": sounds.chords, "arpeggio": sounds.arpeggio, "drums": sounds.drums}
    duration_s = min(picture.duration_s, MAX_S)
    file = make.folder / "music.wav"
    sounds.write_wav(file, play[make.variant(sorted(play))](make.rng, duration_s))
    make.join(["-i", make.file(picture)], ["-i", str(file)], duration_s)


# ---------------------------------------------------------------- kinds: no mouth that speaks

def still_picture(clip, rng):
    """ffmpeg options of an input that begins at the moment to hold, and the filter that does."""
    moment_s = rng.uniform(0.2, 0.8) * min(clip.duration_s, MAX_S)
    return ["-ss", "%.3f" % moment_s], "loop=loop=-1:size=1:start=0,setpts=N/(25*TB),fps=25"


def frozen(make):
    """A frozen picture of a face with its own speech."""
    clip = make.pick(make.clips)
    seek, hold = still_picture(clip, make.rng)
    make.join(seek + ["-i", make.file(clip)], ["-i", make.file(clip)], clip.duration_s, hold)


def narrator(make):
    """A still mouth and another's voice: a frozen picture with slow zoom and changing light."""
    clip = make.pick(make.clips)
    sound = make.of_another(clip)
    seek, hold = still_picture(clip, make.rng)
    found = media.probe(make.path(clip))
    zoom = "zoompan=z='1+0.0005*on':x='iw/2-iw/zoom/2':y='ih/2-ih/zoom/2':d=1:fps=25:s=%dx%d" % (
        media.even(found["width"]), media.even(found["height"]))
    light = "eq=brightness='0.04*sin(2*PI*t/%.2f)':eval=frame" % make.rng.uniform(1, 3)
    make.join(seek + ["-i", make.file(clip)], ["-i", make.file(sound)], sound.duration_s,
              ",".join([hold, zoom, light]))


def no_face(make):
    """Speech over a picture without a face."""
    sound = make.pick(make.clips)
    pattern = make.variant(["testsrc2", "smptebars", "mandelbrot"])
    make.join(["-f", "lavfi", "-i", pattern + "=size=480x360:rate=25"], ["-i", make.file(sound)],
              sound.duration_s)


# ---------------------------------------------------------------- kinds: many offsets

def periodic(make):
    """Half a second of picture and sound, over and over: many offsets fit equally well."""
    clip = make.pick(make.clips)
    start_s = make.rng.uniform(0.25, 0.75) * (min(clip.duration_s, MAX_S) - LOOP_S)
    cut = ["-ss", "%.3f" % start_s, "-i", make.file(clip)]
    picture = "[0:v:0]fps=25,loop=loop=-1:size=%d:start=0,setpts=N/(25*TB)[v]" % LOOP_PICTURES
    sound = ("[0:a:0]aresample=16000:async=1:first_pts=0,aloop=loop=-1:size=%d,asetpts=N/SR/TB[a]"
             % round(16000 * LOOP_S))
    media.ffmpeg(cut + ["-filter_complex", picture + ";" + sound, "-map", "[v]", "-map", "[a]",
                        "-t", "6"] + media.CODE_PICTURE + media.CODE_SOUND, make.output)


# Name: function, statuses that are right.
KINDS = {
    "same person, other sentence": (same_person, ("ambiguous",)),
    "other person": (other_person, ("ambiguous",)),
    "silence": (silence, ("no_speech",)),
    "noise": (noise, ("no_speech", "ambiguous")),
    "music": (music, ("no_speech", "ambiguous")),
    "frozen picture": (frozen, ("ambiguous",)),
    "no face": (no_face, ("no_face",)),
    "still mouth, narrator": (narrator, ("ambiguous",)),
    "backwards and slow": (backwards_and_slow, ("ambiguous",)),
    "drawn face, other words": (drawn_face, ("ambiguous", "no_face")),
    "periodic": (periodic, ("ambiguous",)),
}


# ---------------------------------------------------------------- jobs

def plan(arguments, clips):
    """The same number of files of each kind, `--negatives` in all or a few more."""
    kinds = list(KINDS)
    if not any(len(group) > 1 for group in clip_list.by_speaker(clips).values()):
        kinds.remove("same person, other sentence")
        print("refusal: no speaker has two clips, so there is no other sentence of the same person",
              file=sys.stderr)
    count = -(-arguments.negatives // len(kinds))
    pool = clip_list.name_of_list(clips)
    return [{"part": "refusal", "key": "%s %d of %s" % (kind, index, pool), "kind": kind,
             "index": index} for index in range(count) for kind in kinds]


def evaluate(arguments, job):
    """One row of the result file."""
    clips = clip_list.read_clips(arguments)
    with media.scratch_folder() as folder:
        make = Maker(arguments, clips, clip_list.random_for(arguments, job["key"]), job["index"],
                     pathlib.Path(folder) / "negative.mkv")
        KINDS[job["kind"]][0](make)
        answer = media.answer(media.align(arguments, make.output, arguments.max_offset))
    source = next((clip.source for clip in clips if clip.path == make.made_from[0]), "drawn")
    return dict(job, source=source, made_from=make.made_from, **answer)


# ---------------------------------------------------------------- tables

def describe(rows):
    """The numbers of one line."""
    measured = [row for row in rows if row["status"] == "measured"]
    sure = [row for row in measured if row["confidence"] > CONFIDENT]
    right = [row for row in rows if row["status"] in KINDS[row["kind"]][1]]
    statuses = [row["status"] for row in rows]
    return {
        "n": len(rows), "measured": scores.share(len(measured), len(rows)),
        "measured_confidently": scores.share(len(sure), len(rows)),
        "right_status": scores.share(len(right), len(rows)),
        "highest_confidence": max((row["confidence"] for row in measured), default=None),
        "statuses": ", ".join("%s %d" % (status, statuses.count(status))
                              for status in sorted(set(statuses))),
    }


def tables_of(arguments, rows):
    columns = [("n", "n", tables.text), ("measured", "measured", tables.percent),
               ("measured_confidently", "conf > %g" % CONFIDENT, tables.percent),
               ("right_status", "right status", tables.percent),
               ("highest_confidence", "highest", tables.hundredths),
               ("statuses", "statuses", tables.text)]
    found = []
    for title, key in (("by kind", "kind"), ("by source of the picture", "source")):
        found_names = {row[key] for row in rows}
        names = [kind for kind in KINDS if kind in found_names] or sorted(found_names)
        lines = [dict(describe([row for row in rows if row[key] == name]), **{key: name})
                 for name in names]
        lines.append(dict(describe(rows), **{key: "all"}))
        found.append(tables.Table("refusal, %s: share called measured, which is always wrong"
                                  % title, [(key, key, tables.text)] + columns, lines))
    return found + [example_table(rows)]


def example_table(rows):
    """Up to two different reasons for each kind and status."""
    lines = []
    for kind in KINDS:
        seen = []
        for row in rows:
            if row["kind"] == kind and seen.count(row["status"]) < 2:
                seen.append(row["status"])
                lines.append({key: row[key] for key in ("kind", "index", "status", "confidence",
                                                        "reason", "made_from")})
    columns = [("kind", "kind", tables.text), ("index", "file", tables.text),
               ("status", "status", tables.text), ("confidence", "conf", tables.hundredths),
               ("reason", "reason", tables.text)]
    return tables.Table("refusal: examples of reasons", columns, lines)
