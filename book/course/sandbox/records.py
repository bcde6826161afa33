"""What a sandbox said, taken as text from a stranger: bounded, and built anew from the few things that are known."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field
from typing import IO, Any, Final

from sim.exercises.handing_in import MIME

#: Kinds of output that are kept. Scripts and HTML of a student are not: a teacher's browser would run them.
SHOWN: Final = ("text/plain", "text/markdown", "image/png", "image/jpeg")
LONGEST_LINE: Final = 4_000_000
LONGEST_ANSWER: Final = 100_000
DEEPEST: Final = 40
#: How a cell may have ended, for the driver and for `run`.
ENDS: Final = ("ok", "error", "timeout", "dead", "stuck")


@dataclass
class CellRun:
    """How one cell went.

    Attributes
    ----------
    status
        ``ok``, ``error``, ``timeout`` (interrupted), ``killed`` (the kernel died in it, or did not stop and was ended),
        ``not run``.
    answers
        What the cell handed in, as JSON data, in order.
    note
        What happened, for the student; empty if nothing did.
    """

    index: int
    status: str = "not run"
    seconds: float = 0.0
    outputs: list[dict[str, Any]] = field(default_factory=list)
    answers: list[Any] = field(default_factory=list)
    note: str = ""

    def to_json(self) -> dict[str, Any]:
        """As plain data."""
        return asdict(self)


def lines(stream: IO[bytes], most_bytes: int) -> Iterator[Mapping[str, Any]]:
    """Records of a journal, one a line; what is no record is passed over.

    Raises
    ------
    OverflowError
        when more has come than may be read.
    """
    total = 0
    while True:
        line = stream.readline(LONGEST_LINE)
        if not line:
            return
        total += len(line)
        if total > most_bytes:
            raise OverflowError
        try:
            record = json.loads(line, parse_constant=_refused)
        except (ValueError, RecursionError):
            continue
        if isinstance(record, dict) and isinstance(record.get("event"), str):
            yield record


def _refused(name: str) -> None:
    raise ValueError(f"{name} is no JSON")


def outputs(found: object, most_bytes: int) -> tuple[list[dict[str, Any]], list[Any]]:
    """A cell's outputs in nbformat's shape, and the answers among them."""
    kept: list[dict[str, Any]] = []
    answers: list[Any] = []
    room = most_bytes
    for output in found if isinstance(found, list) else []:
        if not isinstance(output, dict):
            continue
        built, answer = _output(output)
        answers += answer
        size = len(json.dumps(built)) if built else 0
        if built and size <= room:
            room -= size
            kept.append(built)
    return kept, answers[-3:]


def _output(found: Mapping[str, Any]) -> tuple[dict[str, Any] | None, list[Any]]:
    kind = found.get("output_type")
    if kind == "stream" and found.get("name") in ("stdout", "stderr"):
        return {"output_type": kind, "name": found["name"], "text": _text(found.get("text"))}, []
    if kind == "error":
        trace = found.get("traceback")
        shown = [_text(line, 20_000) for line in (trace if isinstance(trace, list) else [])[-100:]]
        name, value = _text(found.get("ename"), 200), _text(found.get("evalue"), 2000)
        return {"output_type": kind, "ename": name, "evalue": value, "traceback": shown}, []
    if kind in ("display_data", "execute_result") and isinstance(found.get("data"), dict):
        data = found["data"]
        answers = [data[MIME]] if MIME in data and _plain(data[MIME]) else []
        shown_data = {name: _text(data[name]) for name in SHOWN if isinstance(data.get(name), str)}
        # all become display_data: an execute_result is how nbgrader is told a number of points
        return {"output_type": "display_data", "data": shown_data, "metadata": {}} if shown_data else None, answers
    return None, []


def _text(found: object, longest: int = 1_000_000) -> str:
    # lone surrogates are text to Python and to nobody else
    return found[:longest].encode("utf-8", "replace").decode() if isinstance(found, str) else ""


def _plain(answer: object) -> bool:
    """Whether an answer is JSON of a size and a depth that a check may be asked to look at."""
    level: list[Any] = [answer]
    for _ in range(DEEPEST):
        level = [
            item
            for each in level if isinstance(each, dict | list)
            for item in (each.values() if isinstance(each, dict) else each)
        ]
        if not level:
            try:
                text = json.dumps(answer, allow_nan=False, ensure_ascii=False)
                return len(text.encode()) <= LONGEST_ANSWER  # fails for half of a pair of surrogates
            except (ValueError, RecursionError):
                return False
    return False
