"""How a routine is written: its operations, one a line, and the errors of a text that is not one.

>>> [statement.op for statement in read_routine("look: read packet_sock.pressure[slot]  # the mark")]
['read']
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from ..schema import nearest

MOST_LINES: Final = 200
MOST_COLUMNS: Final = 160


class RoutineError(ValueError):
    """A routine that cannot be put together or would not be sound, with its line in words."""

    def __init__(self, reason: str, line: int = 0) -> None:
        super().__init__(f"line {line}: {reason}" if line else reason)
        self.reason, self.line = reason, line


@dataclass(frozen=True)
class Statement:
    """A line with an instruction: its number from 1, the labels before it, the operation and what it is given."""

    line: int
    labels: tuple[str, ...]
    op: str
    given: Mapping[str, str]


_WORD = r"[\w.]+"
_PLACE = r"(?P<name>[\w.]+)(?:\[(?P<row>\w+)\])?"
_VALUE = r"(?P<value>-?\w+)"

#: Operation: how it is written, for people, and as a pattern.
FORMS: Final[dict[str, tuple[str, str]]] = {
    "in": ("in SYMBOL", r"(?P<symbol>\w+)"),
    "work": ("work NANOSECONDS", rf"(?P<time>{_WORD})"),
    "read": ("read STRUCT.FIELD[REGISTER]", _PLACE),
    "write": ("write STRUCT.FIELD[REGISTER]", _PLACE),
    "atomic": ("atomic STRUCT.FIELD[REGISTER]", _PLACE),
    "load": ("load REGISTER = TABLE.COLUMN[REGISTER]", rf"(?P<dst>\w+) *= *{_PLACE}"),
    "store": ("store TABLE.COLUMN[REGISTER] = REGISTER or NUMBER", rf"{_PLACE} *= *{_VALUE}"),
    "add": ("add TABLE.COLUMN[REGISTER] += REGISTER or NUMBER", rf"{_PLACE} *\+= *{_VALUE}"),
    "set": (
        "set REGISTER = REGISTER or NUMBER, or set REGISTER = REGISTER + REGISTER or NUMBER",
        rf"(?P<dst>\w+) *= *(?:(?P<a>[a-z]\w*) *(?P<fn>//|<<|>>|[-+*%&|^]| min | max ) *)?{_VALUE}",
    ),
    "branch": ("branch REGISTER == REGISTER or NUMBER LABEL", rf"(?P<a>\w+) *(?P<cond>[=!<>]+) *{_VALUE} +(?P<to>\w+)"),
    "jump": ("jump LABEL", r"(?P<to>\w+)"),
    "loop": ("loop REGISTER LABEL", r"(?P<dst>\w+) +(?P<to>\w+)"),
    "call": ("call SUBROUTINE", rf"(?P<name>{_WORD})"),
    "lock": ("lock LOCK[REGISTER]", _PLACE),
    "unlock": ("unlock LOCK[REGISTER]", _PLACE),
    "push": ("push QUEUE[REGISTER] REGISTER, or with a label: ... full LABEL",
             rf"{_PLACE} +(?P<item>\w+)(?: +full +(?P<to>\w+))?"),
    "pop": ("pop REGISTER = QUEUE[REGISTER], or with a label: ... empty LABEL",
            rf"(?P<dst>\w+) *= *{_PLACE}(?: +empty +(?P<to>\w+))?"),
    "qlen": ("qlen REGISTER = QUEUE[REGISTER]", rf"(?P<dst>\w+) *= *{_PLACE}"),
    "raise": ("raise INTERRUPT[REGISTER]", _PLACE),
    "ret": ("ret", ""),
}
_LABEL: Final = re.compile(r"(\w+):\s*")


def read_routine(text: str | Iterable[str]) -> list[Statement]:
    """The statements of a routine's text (or of its lines). Raises RoutineError."""
    lines = text.splitlines() if isinstance(text, str) else list(text)
    if len(lines) > MOST_LINES:
        raise RoutineError(f"a routine has {MOST_LINES} lines at most, this one {len(lines)}")
    return list(_statements(lines))


def _statements(lines: list[str]) -> Iterator[Statement]:
    labels: list[str] = []
    for number, line in enumerate(lines, 1):
        if len(line) > MOST_COLUMNS:
            raise RoutineError(f"a line has {MOST_COLUMNS} characters at most", number)
        rest = line.partition("#")[0].strip()
        while label := _LABEL.match(rest):
            labels.append(label[1])
            rest = rest[label.end():]
        if not rest:
            continue
        op, _, operands = rest.partition(" ")
        if op not in FORMS:
            raise RoutineError(f"no operation {op!r}; {nearest(op, FORMS)}", number)
        usage, pattern = FORMS[op]
        found = re.fullmatch(pattern, operands.strip())
        if found is None:
            raise RoutineError(f"{op} is written like this: {usage}", number)
        yield Statement(number, tuple(labels), op, {k: v.strip() for k, v in found.groupdict().items() if v})
        labels = []
    if labels:
        yield Statement(len(lines), tuple(labels), "", {})
