# Copyright 2026 The av_fusion authors. SPDX-License-Identifier: Apache-2.0
"""The clips that the evaluation is made from."""

import collections
import csv
import hashlib
import pathlib
import random

Clip = collections.namedtuple("Clip", "path duration_s speaker source")


def source_of(path):
    """The first two folders of a clip's path: what results are reported by."""
    return "/".join(pathlib.PurePosixPath(path).parent.parts[:2]) or "."


def read_clips(arguments):
    """The clips to judge, in the order of the list. One without a speaker is its own speaker."""
    with open(arguments.list, encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))
    clips = [Clip(row["clip"], float(row["duration_s"]), row.get("speaker") or row["clip"],
                  source_of(row["clip"])) for row in rows]
    return [clip for clip in clips
            if any(clip.path.startswith(prefix) for prefix in arguments.filter or [""])
            and clip.duration_s >= arguments.min_duration]


def is_relative(arguments, path):
    """Whether the true lag of a clip is unknown, so that only changes can be judged."""
    return any(path.startswith(prefix) for prefix in arguments.relative or [])


def by_speaker(clips):
    """{(source, speaker): clips}. Two sources are never mixed: their constant lags differ."""
    groups = collections.OrderedDict()
    for clip in clips:
        groups.setdefault((clip.source, clip.speaker), []).append(clip)
    return groups


def name_of_list(clips):
    """A short name of the clips to choose from. They decide what is chosen, so keys hold it."""
    return hashlib.sha256("\n".join(clip.path for clip in clips).encode("utf-8")).hexdigest()[:8]


def random_for(arguments, key):
    """The random numbers of one job: the same whatever was done before it, on any machine."""
    return random.Random("%d %s" % (arguments.seed, key))
