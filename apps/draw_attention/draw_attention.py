#!/usr/bin/env python3
# Copyright 2026 The av_fusion authors. SPDX-License-Identifier: Apache-2.0
"""Draws where in the sound the network looked for each picture, from reports of av_align.

    python3 apps/draw_attention/draw_attention.py -o attention.svg \\
        "drawn face=report.json" "studio=other.json"

One panel for each report (TITLE=FILE): the time of a picture to the right, the time in the sound at
which a head looks most upwards. Large dots are the heads together, darker where more of the attention lies
within 40 ms; small dots are single heads, one colour each. The line is where the sound of a picture is
by the report's offset: attention that finds the lips' own sound lies on it. Of several faces the one
with most dots is drawn. Writes SVG; needs Python 3.8 and nothing else.
"""

import argparse
import collections
import html
import json
import pathlib
import sys

SIDE = 250                # of a panel's square, in units of the picture
MARGIN_LEFT, MARGIN_TOP, GAP, FOOT = 52, 30, 42, 78
HEAD_COLOURS = ("#e69f00", "#56b4e9", "#009e73", "#cc79a7", "#0072b2", "#d55e00", "#f0e442", "#999999")


class Panel:
    """The square of one report, `left` units from the edge of the picture."""

    def __init__(self, title, report, left):
        attention = report.get("attention")
        if not attention or not attention["frames"]:
            raise ValueError("the report has no attention frames")
        counts = collections.Counter(frame["track"] for frame in attention["frames"])
        track = counts.most_common(1)[0][0]
        self.title = title
        self.frames = [frame for frame in attention["frames"] if frame["track"] == track]
        self.heads = attention["heads"]
        self.offset_s = None if report["offset_ms"] is None else report["offset_ms"] / 1000
        self.left = left
        times = [frame["t_s"] for frame in self.frames]
        self.first, self.last = min(times), max(max(times), min(times) + 0.2)

    def x(self, time):
        return self.left + SIDE * (time - self.first) / (self.last - self.first)

    def y(self, time):
        return MARGIN_TOP + SIDE - SIDE * (time - self.first) / (self.last - self.first)

    def holds(self, time):
        return self.first <= time <= self.last

    def dot(self, frame, audio_time, radius, colour, opacity):
        if not self.holds(audio_time):
            return ""
        return '<circle cx="%.1f" cy="%.1f" r="%.1f" fill="%s" fill-opacity="%.2f"/>' % (
            self.x(frame["t_s"]), self.y(audio_time), radius, colour, opacity)

    def own_sound(self):
        """The line of the lips' own sound: it comes `offset` before its picture."""
        if self.offset_s is None:
            return ""
        begin = max(self.first, self.first + self.offset_s)
        end = min(self.last, self.last + self.offset_s)
        return '<path d="M%.1f %.1fL%.1f %.1f" stroke="#888" stroke-dasharray="4 3"/>' % (
            self.x(begin), self.y(begin - self.offset_s), self.x(end), self.y(end - self.offset_s))

    def axes(self):
        yield '<rect x="%d" y="%d" width="%d" height="%d" fill="none" stroke="#444"/>' % (
            self.left, MARGIN_TOP, SIDE, SIDE)
        step = next(s for s in (0.5, 1, 2, 5, 10, 30, 60, 300, 1800, 1e9)
                    if (self.last - self.first) / s <= 6)
        tick = step * -(-self.first // step)
        while tick <= self.last:
            yield text("%g" % tick, self.x(tick), MARGIN_TOP + SIDE + 15, "middle")
            yield text("%g" % tick, self.left - 6, self.y(tick) + 4, "end")
            tick += step
        yield text(self.title, self.left + SIDE / 2, MARGIN_TOP - 10, "middle", bold=True)
        yield text("picture (s)", self.left + SIDE / 2, MARGIN_TOP + SIDE + 32, "middle")

    def draw(self):
        yield from self.axes()
        yield self.own_sound()
        for frame in self.frames:
            for head, time in enumerate(frame["per_head_audio_t_s"]):
                yield self.dot(frame, time, 2, HEAD_COLOURS[head % len(HEAD_COLOURS)], 0.75)
        strongest = max(frame["weight"] for frame in self.frames)
        for frame in self.frames:
            yield self.dot(frame, frame["audio_t_s"], 3.4, "#000",
                           0.1 + 0.6 * frame["weight"] / max(strongest, 1e-9))


def text(words, x, y, anchor, bold=False):
    return '<text x="%.1f" y="%.1f" text-anchor="%s"%s>%s</text>' % (
        x, y, anchor, ' font-weight="bold"' if bold else "", html.escape(words))


def legend(heads, top):
    yield '<circle cx="%d" cy="%d" r="3.4" fill-opacity="0.6"/>' % (MARGIN_LEFT + 4, top - 4)
    yield text("all heads together", MARGIN_LEFT + 14, top, "start")
    for head in range(heads):
        x = MARGIN_LEFT + 150 + 80 * head
        yield '<circle cx="%d" cy="%d" r="3" fill="%s"/>' % (
            x, top - 4, HEAD_COLOURS[head % len(HEAD_COLOURS)])
        yield text("head %d" % head, x + 10, top, "start")


def drawing(panels):
    width = MARGIN_LEFT + len(panels) * (SIDE + GAP)
    height = MARGIN_TOP + SIDE + FOOT
    yield ('<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" viewBox="0 0 %d %d" '
           'font-family="sans-serif" font-size="12">' % (width, height, width, height))
    yield '<rect width="100%" height="100%" fill="#fff"/>'
    middle = MARGIN_TOP + SIDE / 2
    yield ('<text transform="translate(14 %.0f) rotate(-90)" text-anchor="middle">sound (s)</text>'
           % middle)
    for panel in panels:
        yield from panel.draw()
    yield from legend(max(panel.heads for panel in panels), height - 16)
    yield "</svg>"


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("reports", nargs="+", metavar="TITLE=FILE", help="JSON reports of av_align")
    parser.add_argument("-o", "--output", required=True, type=pathlib.Path, help="the SVG file")
    arguments = parser.parse_args()
    panels = []
    for index, argument in enumerate(arguments.reports):
        title, has_title, path = argument.rpartition("=")
        try:
            report = json.loads(pathlib.Path(path).read_text(encoding="utf-8"))
            panels.append(Panel(title if has_title else pathlib.Path(path).stem, report,
                                MARGIN_LEFT + index * (SIDE + GAP)))
        except (OSError, ValueError, KeyError, TypeError) as error:
            print("draw_attention: %s: %s" % (path, error), file=sys.stderr)
            return 1
    lines = [line for line in drawing(panels) if line]
    arguments.output.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
