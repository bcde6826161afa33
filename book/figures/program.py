"""Pictures of the page on path programs: who moves next, and one spec in three engines."""

from __future__ import annotations

import re
from typing import Final

from book.figures.svg import Picture

# One space follows an operand, two or more stand before a symbol, many after an instruction without operands.
_ROW: Final = re.compile(r"(?:(.{10,}?\S) {2,}|(.{1,9}\S) {9,})(\S+)$")


def excerpt(listing: str, first: str, end: str) -> str:
    """The lines of a listing from one label up to another one, which stays out, set narrow."""
    lines = listing.splitlines()
    return narrow("\n".join(lines[lines.index(f"{first}:") : lines.index(f"{end}:")]))


def narrow(listing: str) -> str:
    """A listing or a diff with its column of symbols moved left, as far as its longest line lets it."""
    rows = [
        (match[1] or match[2], match[3]) if (match := _ROW.match(line)) else (line, "")
        for line in listing.splitlines()
    ]
    width = max(len(left) for left, symbol in rows if symbol)
    return "\n".join(f"{left:<{width}}  {symbol}".rstrip() for left, symbol in rows)


def next_actor() -> Picture:
    """Four actors on their own clocks; the one that is furthest behind moves."""
    picture = Picture(
        232,
        "Each actor has its own clock; the engine always moves the one that is furthest behind, and "
        "the lower number first when two clocks agree, so that no order of events depends on the computer.",
    )
    lanes = (("0  CPU 0", 168.0), ("1  CPU 1", 128.0), ("2  NIC queue", 250.0), ("3  sender", 128.0))
    for place, (name, clock) in enumerate(lanes):
        y = 40 + 38 * place
        picture.text(4, y + 4, name)
        picture.line([(92, y), (350, y)], "grid")
        picture.box(92, y - 7, clock - 92, 14, "warm" if place == 1 else "wash", 2)
        picture.dot(clock, y, 4, "c1" if place == 1 else "c0")
    picture.line([(128, 22), (128, 172)], "l1 dash")
    picture.text(132, 20, "smallest (time, number): moves next", "small")
    picture.text(92, 188, "0", "mid small quiet")
    picture.arrow(100, 184, 340, 184, "rule")
    picture.text(350, 200, "simulated time", "end small quiet")
    picture.text(4, 222, "CPU 1 and the sender agree on the time: 1 comes before 3.", "small quiet")
    return picture


def three_engines() -> Picture:
    """One image of integers, three engines, the same integers out."""
    picture = Picture(
        250,
        "One image of integers drives three engines, and all three must return the same integers: two of "
        "them share their source, the third was written apart.",
    )
    picture.box(90, 6, 180, 40, "wash", 6)
    picture.text(180, 23, "spec", "mid strong")
    picture.text(180, 39, "program, machine, knobs", "mid small")
    engines = (
        (4, "reference", "SimPy, to be read"),
        (124, "native", "Numba, to be fast"),
        (244, "WebAssembly", "Numba, in the page"),
    )
    for x, name, words in engines:
        picture.arrow(180, 46, x + 56, 92, "rule")
        picture.box(x, 94, 112, 48, "box", 6)
        picture.text(x + 56, 113, name, "mid strong")
        picture.text(x + 56, 131, words, "mid small")
        picture.arrow(x + 56, 142, 180, 190, "rule")
    picture.box(60, 192, 240, 44, "warm", 6)
    picture.text(180, 210, "arena after the run", "mid strong")
    picture.text(180, 227, "equal word for word, or the test fails", "mid small")
    return picture
