"""The picture on the cover: what the patch gains, reported beside simulated."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from book.figures.svg import Picture
from sim.reported import Figure
from sim.result import Result


class Gain(NamedTuple):
    """One bar: where it was run, which arm, and rates in Gbit/s (low and high bound the mean at 95 %)."""

    setting: str
    arm: str
    mean: float
    low: float
    high: float
    reported: float | None


def beside(setting: str, arm: str, figure: Figure, result: Result) -> Gain:
    """A bar for a run, with the reported figure that it is held against."""
    found = figure.read(result)
    return Gain(setting, arm, found.mean, found.low, found.high, figure.reported)


def gains(rows: Sequence[Gain]) -> Picture:
    """Horizontal bars with their intervals; a ring marks the figure that the thread reports."""
    first: dict[str, list[Gain]] = {}
    for row in rows:
        first.setdefault(row.setting, []).append(row)
    found = "; ".join(
        f"{setting}: {pair[0].mean:.0f} to {pair[-1].mean:.0f} Gbit/s" for setting, pair in first.items()
    )
    picture = Picture(
        40 + sum(24 + 34 * len(pair) for pair in first.values()),
        f"Moving one kind of work between two CPUs raises the simulated throughput of one TCP flow "
        f"({found}); rings mark what the patch's author measured.",
    )
    longest = max(max(row.high, row.reported or 0) for row in rows)
    y = 4.0
    for setting, pair in first.items():
        y += 16
        picture.text(4, y, setting, "strong")
        for row in pair:
            y += 30
            changed = row.arm != pair[0].arm
            picture.text(52, y + 1, row.arm, "end small")
            length = 240 * row.mean / longest
            picture.box(58, y - 11, length, 17, "warm" if changed else "wash", 2)
            for edge in (row.low, row.high):
                x = 58 + 240 * edge / longest
                picture.line([(x, y - 9), (x, y + 4)], "rule")
            x0, x1 = 58 + 240 * row.low / longest, 58 + 240 * row.high / longest
            picture.line([(x0, y - 2.5), (x1, y - 2.5)], "rule")
            if row.reported is not None:
                picture.dot(58 + 240 * row.reported / longest, y - 2.5, 5, "l3")
            picture.text(356, y + 1, f"{row.mean:.1f}", "end")
        y += 12
    picture.dot(14, y + 12, 5, "l3")
    picture.text(24, y + 16, "measured on the list", "small")
    picture.text(356, y + 16, "Gbit/s", "end small quiet")
    return picture
