"""A number as somebody types it: with a point or a comma, with thousands apart or not.

>>> number("38,48"), number("1,234.5"), number("1.234,5")
(38.48, 1234.5, 1234.5)
"""

from __future__ import annotations

import re
from typing import Final

_PLAIN: Final = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?", re.I)
_GROUPS: Final = re.compile(r"[+-]?[1-9]\d{0,2}([,.]\d{3})+")


class NotANumber(ValueError):
    """What was typed is no number, or is two; the message says so to whoever typed it."""


def number(text: str) -> float:
    """The number that was typed. A comma is a decimal point where it cannot be anything else.

    Raises
    ------
    NotANumber
        for what is no number, and for ``3,848``, which is one number here and another there.
    """
    typed = re.sub(r"\s", "", text.replace("−", "-"))
    marks = re.sub(r"[^,.]", "", typed)
    if marks == "," and _GROUPS.fullmatch(typed):
        joined, pointed = typed.replace(",", ""), typed.replace(",", ".")
        raise NotANumber(f"{typed} can be read in two ways: write {joined} or {pointed}.")
    if len(marks) > 1 and len(set(marks)) == 1 and _GROUPS.fullmatch(typed):
        typed = typed.replace(marks[0], "")
    elif len(set(marks)) == 2 and marks.count(marks[-1]) == 1:
        whole, _, rest = typed.rpartition(marks[-1])
        if len(set(whole) & {",", "."}) == 1 and _GROUPS.fullmatch(whole):
            typed = f"{re.sub('[,.]', '', whole)}.{rest}"
    elif marks == ",":
        typed = typed.replace(",", ".")
    if not _PLAIN.fullmatch(typed):
        raise NotANumber("This is no number.")
    return float(typed)
