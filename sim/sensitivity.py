"""Sensitivity: what the threads conclude, and whether it holds under other constants, as `sim.study` found it.

A record of the file (`sim/sensitivity.json`) is one conclusion: what a patch changes, percent, with the constants as
they are, with each a quarter smaller or larger, and with several changed at once. It keeps the hash of the engine and
of the specs that it was made with, so that a page can say when it no longer fits.
"""

from __future__ import annotations

import hashlib
import json
import math
import statistics
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any, Final

from . import reported, scenarios, source_hash
from .reported import Figure
from .result import Result
from .scenarios import RunError, Scenario
from .validate import within

FILE: Final = Path(__file__).parent / "sensitivity.json"
CONCLUSIONS: Final = 2  # of a thread: the first directions of its file are what it is about

Record = dict[str, Any]
Answer = Result | RunError


@dataclass(frozen=True)
class Conclusion:
    """What a thread concludes: a direction, with the figure from after the patch that the same run gives, if any."""

    figure: Figure
    after: Figure | None

    def held(self, before: Answer, after: Answer) -> Record:
        """Both arms, the gain in percent, and whether the figure from after the patch is met; how a run ended else."""
        for answer in (before, after):
            if isinstance(answer, RunError):
                return {"ended": str(answer), "before": None, "after": None, "gain": None, "rate": None}
        assert isinstance(before, Result)
        assert isinstance(after, Result)
        old, new = self._mean(before), self._mean(after)
        rate = self.after and within(self.after.kind, self.after.reported, self.after.read(after))
        gain = self.figure.read(after, before).mean
        return {"before": short(old), "after": short(new), "gain": short(gain), "rate": rate}

    def _mean(self, result: Result) -> float:
        assert self.figure.reading is not None
        return math.fsum(self.figure.reading.value(r) for r in result.replications) / len(result.replications)


def short(number: float) -> float:
    """A number as it is kept: six digits."""
    return float(f"{number:.6g}")


def conclusions(thread: str) -> list[Conclusion]:
    """What a thread concludes."""
    figures = reported.figures(thread)
    found = [f for f in figures if f.kind == "direction"][:CONCLUSIONS]

    def stated(direction: Figure) -> Figure | None:
        return next(
            (f for f in figures if f.kind != "direction" and f.role != "input" and f.knobs == direction.knobs
             and f.reading == direction.reading),
            None,
        )

    return [Conclusion(f, stated(f)) for f in found]


def threads() -> list[str]:
    """Threads that conclude something and have a scenario."""
    return [n for n in scenarios.names() if n in reported.threads() and conclusions(n)]


def image_hash(scenario: Scenario, figure: Figure) -> str:
    """First 16 hex digits of a SHA-256 over the spec images of both arms: program, layouts, machine, constants."""
    digest = hashlib.sha256()
    for knobs in (figure.before_of(figure.knobs), figure.knobs):
        digest.update(scenario.image(1, 0, **knobs).tobytes())
    return digest.hexdigest()[:16]


def outdated(record: Mapping[str, Any]) -> str:
    """What has changed since a record was made, in words; empty if nothing has and it still fits."""
    if record["engine"] != source_hash():
        return "the engine"
    mine = [c.figure for c in conclusions(record["thread"]) if c.figure.id == record["id"]]
    if not mine or dict(mine[0].knobs) != record["setting"]:
        return "the thread's figures"
    if record["image"] != image_hash(scenarios.load(record["thread"]), mine[0]):
        return "the scenario or its constants"
    return ""


def load(path: Path = FILE) -> list[Record]:
    """The records on file, one a conclusion."""
    records: list[Record] = json.loads(path.read_text(encoding="utf-8")) if path.exists() else []
    return records


def write(records: Iterable[Record], path: Path = FILE) -> None:
    """Put records into the file, in the place of older ones of the same threads."""
    new = list(records)
    renewed = {r["thread"] for r in new}
    order = scenarios.names()
    kept = [r for r in load(path) if r["thread"] not in renewed and r["thread"] in order]
    rows = sorted(kept + new, key=lambda r: order.index(r["thread"]))
    text = "[\n" + ",\n".join(_render(r) for r in rows) + "\n]\n"
    path.write_text(text, encoding="utf-8")


def _render(record: Record) -> str:
    """A record with one constant a line, so that a change of the file can be read."""
    lines = []
    for key, value in record.items():
        if isinstance(value, list) and value and isinstance(value[0], dict):
            body = "[\n" + ",\n".join(f"    {json.dumps(x)}" for x in value) + "\n  ]"
        else:
            body = json.dumps(value, ensure_ascii=False)
        lines.append(f"  {json.dumps(key)}: {body}")
    return " {\n" + ",\n".join(lines) + "\n }"


def beyond(row: Mapping[str, Any], gain: Mapping[str, Any]) -> float:
    """How far, in points, a constant moves the gain beyond where the seeds alone put it; infinite if a run ended."""
    low, high = min(gain["seeds"]), max(gain["seeds"])
    ends = [row[end]["gain"] for end in ("low", "high")]
    return max(math.inf if x is None else max(low - x, x - high, 0.0) for x in ends)


def border(gain: Mapping[str, Any]) -> float | None:
    """Between two lasting states that the seeds alone end in: the middle of their gap; None if there is one state."""
    seeds = sorted(gain["seeds"])
    width, middle = max((high - low, (low + high) / 2) for low, high in pairwise(seeds))
    return middle if width > abs(statistics.median(seeds)) / 2 else None


def moves(row: Mapping[str, Any], gain: Mapping[str, Any]) -> bool:
    """Whether a constant moves the gain by more than chance.

    One of its ends lies beyond the seeds, and both differ by more than the noise of a difference: an end alone may be
    where a disturbance of any kind leads. With two states that is no measure, as seeds reach from one to the other;
    there a constant counts whose ends lie in different ones, though a seed does the same.
    """
    low, high = (row[end]["gain"] for end in ("low", "high"))
    if low is None or high is None:
        return True
    middle = border(gain)
    if middle is not None:
        return bool((low < middle) != (high < middle))
    return beyond(row, gain) > 0 and abs(high - low) > math.sqrt(2) * gain["noise"]


def span(record: Mapping[str, Any]) -> tuple[float, float]:
    """Lowest and highest gain that one constant alone gives, runs that ended left out."""
    gains = [row[end]["gain"] for row in record["constants"] for end in ("low", "high")]
    found = [x for x in [*gains, record["gain"]["mean"]] if x is not None]
    return min(found), max(found)


def kept(gain: float | None, record: Mapping[str, Any]) -> bool:
    """Whether a gain has the sign that the thread reports, by more than the seeds' noise."""
    return gain is not None and math.copysign(1, record["reported"]) * gain > record["gain"]["noise"]
