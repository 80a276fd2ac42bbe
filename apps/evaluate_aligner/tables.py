# Copyright 2026 The av_fusion authors. SPDX-License-Identifier: Apache-2.0
"""Tables for a person. The JSON result holds the same lines."""


def text(value):
    return "-" if value is None else str(value)


def percent(value):
    return "-" if value is None else "%.1f%%" % (100 * value)


def fixed(value):
    return "-" if value is None else "%.1f" % value


def signed(value):
    return "-" if value is None else "%+.1f" % value


def hundredths(value):
    return "-" if value is None else "%.2f" % value


def thousandths(value):
    return "-" if value is None else "%.3f" % value


# Of `scores.accuracy`: key of the line, heading, how it is written.
ACCURACY_COLUMNS = [
    ("n", "n", text), ("answered", "meas", percent), ("hit40", "hit40", percent),
    ("hit40_of_answered", "of meas", percent), ("hit10", "hit10", percent),
    ("median_abs_error_ms", "|err|", fixed), ("bias_ms", "err", signed),
    ("confidence", "conf", hundredths), ("floor_hit40", "floor", percent),
    ("chance", "chance", percent),
]


class Table:
    """A title, columns (key, heading, format) and lines (dicts)."""

    def __init__(self, title, columns, lines):
        self.title, self.columns, self.lines = title, columns, lines

    def print(self):
        cells = [[heading for _, heading, _ in self.columns]]
        cells += [[write(line.get(key)) for key, _, write in self.columns] for line in self.lines]
        widths = [max(len(row[column]) for row in cells) for column in range(len(self.columns))]
        print("\n" + self.title)
        for row in cells:
            print("  ".join([row[0].ljust(widths[0])] +
                            [cell.rjust(width) for cell, width in zip(row[1:], widths[1:])]))
