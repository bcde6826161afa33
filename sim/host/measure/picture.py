"""The readings as a picture: hand-over for every pair of CPUs, and each constant against the project's machines."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from ... import machine
from .machine_file import comparison
from .readings import Readings

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

MOST_LABELS: Final = 24  # CPUs whose numbers and values are written out
FEWEST_PAIRS: Final = 3  # for a map: fewer values are read better as the row of a constant


def draw(readings: Readings) -> Figure:
    """A figure with both maps; without that of the pairs if there are few."""
    from matplotlib.figure import Figure

    rows = comparison(readings)
    if len(readings.pairs) < FEWEST_PAIRS:
        return constants_alone(rows)
    figure = Figure(figsize=(12, 4.8), layout="constrained")
    left, right = figure.subplots(1, 2, width_ratios=(1, 1.7))
    _pairs(left, readings)
    _constants(right, rows)
    return figure


def constants_alone(rows: Sequence[Mapping[str, Any]]) -> Figure:
    """The right map only, in the width of a page's text; `rows` as `sim.host.measure.machine_file.comparison`."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(7.2, 4.8), layout="constrained")
    _constants(figure.subplots(), rows)
    return figure


def save(readings: Readings, path: Path) -> None:
    """Write the picture; the format is the name's ending (svg, png, pdf). Raises ValueError for another, OSError."""
    if path.suffix not in (".svg", ".png", ".pdf"):
        raise ValueError(f"{path}: a picture ends with .svg, .png or .pdf")
    draw(readings).savefig(path)


def _pairs(axes: Axes, readings: Readings) -> None:
    numbers = readings.cpus.numbers
    at = {cpu: n for n, cpu in enumerate(numbers)}
    grid = [[math.nan] * len(numbers) for _ in numbers]
    for (a, b), reading in readings.pairs.items():
        grid[at[a]][at[b]] = grid[at[b]][at[a]] = reading.median
    axes.set_title("Hand-over of a line, one way, ns", fontsize=9)
    axes.imshow(grid, cmap="viridis", vmin=0)
    if len(numbers) <= MOST_LABELS:
        axes.set_xticks(range(len(numbers)), [str(n) for n in numbers], fontsize=7)
        axes.set_yticks(range(len(numbers)), [str(n) for n in numbers], fontsize=7)
        most = max(reading.median for reading in readings.pairs.values())
        for (a, b), reading in readings.pairs.items():
            colour = "black" if reading.median > 0.6 * most else "white"
            text = f"{reading.median:.0f}{' ?' if reading.unstable else ''}"
            for x, y in ((a, b), (b, a)):
                axes.text(at[x], at[y], text, ha="center", va="center", fontsize=7, color=colour)
    axes.set_xlabel("CPU", fontsize=8)
    axes.set_ylabel("CPU", fontsize=8)


def _constants(axes: Axes, rows: Sequence[Mapping[str, Any]]) -> None:
    names = machine.names()
    ratio: list[list[Any]] = [
        [row["measured"] / row[name] if row[name] else math.nan for name in names] for row in rows
    ]
    axes.imshow([[math.log2(x) if x > 0 else math.nan for x in row] for row in ratio], cmap="RdBu_r", vmin=-3, vmax=3,
                aspect="auto")
    axes.set_title("Measured, in multiples of the project's machines (? unstable)", fontsize=9)
    axes.set_xticks(range(len(names)), names, fontsize=9, rotation=40, ha="right")
    axes.set_yticks(
        range(len(rows)), [f"{row['constant']}{' ?' if row['unstable'] else ''}" for row in rows], fontsize=9
    )
    for y, row in enumerate(ratio):
        for x, value in enumerate(row):
            if value > 0:
                colour = "white" if abs(math.log2(value)) > 2 else "black"
                axes.text(x, y, multiple(value), ha="center", va="center", fontsize=9, color=colour)


def multiple(value: float) -> str:
    """Two digits, or all of a larger number: never as a power of ten."""
    return f"{value:.2g}" if 0.01 <= value < 99.5 else f"{value:.0f}"
