# Copyright 2026 The av_fusion authors. SPDX-License-Identifier: Apache-2.0
"""Part 5: which of two faces speaks?

Two clips of different people run side by side. The sound is that of the left one, then of the right
one, then both, in equal stretches. The score of a face at a tick is the probability of the span of
`tracks[].speaking` that it lies in, 0 outside. Ticks at which the sound is no speech are not
judged. The floor's score is the correlation of lip opening and loudness over a second; chance is
the share of face ticks that are positive.
"""

import pathlib

import clips as clip_list
import floor
import media
import scores
import tables

HEIGHT = 360
STRETCHES = ((True, False), (False, True), (True, True))  # whether left and right are heard
FLOOR_REACH = 12  # ticks each way
DECIDED = 0.5


# ---------------------------------------------------------------- what to do

def plan(arguments, clips):
    """`--pairs` pairs, as many from each source that has two people."""
    sources = [source for source in sorted({clip.source for clip in clips})
               if len({clip.speaker for clip in clips if clip.source == source}) > 1]
    jobs = []
    for index in range(arguments.pairs if sources else 0):
        source = sources[index % len(sources)]
        rng = clip_list.random_for(arguments, "pair %d of %s" % (index, source))
        left, right = pick_pair(rng, [clip for clip in clips if clip.source == source])
        jobs.append({"part": "speakers", "key": "%d %s|%s" % (index, left.path, right.path),
                     "source": source, "left": left.path, "right": right.path})
    return jobs


def pick_pair(rng, clips):
    """Two people first, then a clip of each: one with many clips must not be in every pair."""
    speakers = rng.sample(sorted({clip.speaker for clip in clips}), 2)
    return [rng.choice([clip for clip in clips if clip.speaker == speaker])
            for speaker in speakers]


# ---------------------------------------------------------------- one file

def evaluate(arguments, job):
    """One row of the result file."""
    left, right = (pathlib.Path(arguments.data) / job[side] for side in ("left", "right"))
    with media.scratch_folder() as folder:
        file = pathlib.Path(folder) / "pair.mkv"
        stretch_s, border = make_pair(left, right, file)
        report = media.align(arguments, file, arguments.max_offset)
        tracks = floor.read_tracks(media.extract(arguments, file, folder))
    ticks = [judge_tick(report["tracks"], tracks, border, stretch_s, tick)
             for tick in range(int(round(len(STRETCHES) * stretch_s / media.TICK_S)))]
    return dict(job, status=report["status"], faces=len(report["tracks"]), stretch_s=stretch_s,
                ticks=[tick for tick in ticks if tick is not None])


def make_pair(left, right, output):
    """Writes the two side by side; returns the length of a stretch and where the right begins."""
    found = [probe_scaled(clip) for clip in (left, right)]
    stretch_s = media.whole_ticks_s(min(one["duration_s"] for one in found) / len(STRETCHES))
    duration_s = len(STRETCHES) * stretch_s
    filters = []
    for index, one in enumerate(found):
        filters.append("[%d:v:0]fps=25,scale=%d:%d,setsar=1[v%d]"
                       % (index, one["width"], HEIGHT, index))
        # Short pieces of sound, because `enable` switches whole pieces.
        filters.append("[%d:a:0]%s,aformat=sample_rates=16000:channel_layouts=mono,"
                       "asetnsamples=n=160,volume=0:enable='%s'[a%d]"
                       % (index, media.steady_sound(duration_s), silent_times(index, stretch_s),
                          index))
    filters.append("[v0][v1]hstack=inputs=2:shortest=1[v]")
    filters.append("[a0][a1]amix=inputs=2:normalize=0[a]")
    media.ffmpeg(["-i", "file:" + str(left), "-i", "file:" + str(right),
                  "-filter_complex", ";".join(filters), "-map", "[v]", "-map", "[a]",
                  "-t", "%.6f" % duration_s] + media.CODE_PICTURE + media.CODE_SOUND, output)
    return stretch_s, found[0]["width"]


def probe_scaled(clip):
    found = media.probe(clip)
    found["width"] = media.even(found["width"] * HEIGHT / found["height"])
    return found


def silent_times(side, stretch_s):
    """An ffmpeg expression of the time that is not 0 where this side must not be heard."""
    silent = ["gte(t,%.6f)*lt(t,%.6f)" % (index * stretch_s, (index + 1) * stretch_s)
              for index, heard in enumerate(STRETCHES) if not heard[side]]
    return "+".join(silent)


def judge_tick(faces, tracks, border, stretch_s, tick):
    """[labels, scores, floor's scores] of left and right; None where nobody is heard to speak."""
    time_s = tick * media.TICK_S
    # The middle of the tick decides: rounding must not put one on a border into the wrong stretch.
    stretch = min(int((time_s + media.TICK_S / 2) / stretch_s), len(STRETCHES) - 1)
    if not is_speech(tracks, tick):
        return None
    sides = [[face for face in faces if side_of(face["box"], border) == side] for side in (0, 1)]
    floor_sides = [[track for track in tracks if side_of(track.box, border) == side]
                   for side in (0, 1)]
    return [[int(heard) for heard in STRETCHES[stretch]],
            [max((speaking_score(face, time_s) for face in side), default=0.0) for side in sides],
            [floor_score(side, tick) for side in floor_sides]]


def is_speech(tracks, tick):
    """Whether the sound at a tick is speech, as the library hears it."""
    for track in tracks:
        at = floor.MEL_LEAD + floor.MEL_PER_TICK * (tick - track.first_tick)
        if 0 <= at < len(track.speech):
            return bool(track.speech[at])
    return False


def side_of(box, border):
    """0: left, 1: right, by the middle of the face's box."""
    return int(box[0] + box[2] / 2 >= border)


def speaking_score(face, time_s):
    """The probability of the span that the middle of a tick lies in, 0 outside."""
    middle_s = time_s + media.TICK_S / 2
    for span in face["speaking"]:
        if span["start_s"] <= middle_s < span["end_s"]:
            return span["probability"]
    return 0.0


def floor_score(tracks, tick):
    found = [floor.agreement(track, tick, FLOOR_REACH) for track in tracks]
    return max((score for score in found if score is not None), default=-1.0)


# ---------------------------------------------------------------- tables

def describe(rows):
    """The numbers of one line."""
    ticks = [tick for row in rows for tick in row["ticks"]]
    ours = [(score, label) for labels, found, _ in ticks for score, label in zip(found, labels)]
    floors = [(score, label) for labels, _, found in ticks for score, label in zip(found, labels)]
    alone = [(labels, found) for labels, found, _ in ticks if sum(labels) == 1]
    return {
        "files": len(rows), "face_ticks": len(ours),
        "average_precision": scores.average_precision(ours),
        "right": scores.mean([float((score >= DECIDED) == bool(label)) for score, label in ours]),
        "right_face": scores.mean([prefers_speaker(labels, found) for labels, found in alone]),
        "floor_average_precision": scores.average_precision(floors),
        "chance": scores.mean([float(label) for _, label in ours]),
    }


def prefers_speaker(labels, found):
    """Where one speaks: 1 if its score is the higher one, a half if they are equal."""
    speaker, other = (found[0], found[1]) if labels[0] else (found[1], found[0])
    return 0.5 if speaker == other else float(speaker > other)


def tables_of(arguments, rows):
    lines = [dict(describe([row for row in rows if row["source"] == source]), source=source)
             for source in sorted({row["source"] for row in rows})]
    lines.append(dict(describe(rows), source="all"))
    columns = [("source", "source", tables.text), ("files", "files", tables.text),
               ("face_ticks", "face ticks", tables.text),
               ("average_precision", "AP", tables.percent), ("right", "right", tables.percent),
               ("right_face", "right face", tables.percent),
               ("floor_average_precision", "floor AP", tables.percent),
               ("chance", "chance AP", tables.percent)]
    return [tables.Table("speakers: two faces side by side", columns, lines)]
