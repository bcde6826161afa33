"""Reported figures: what a thread states, where it stands, and how the same number is read from a run.

One JSON file a thread (`sim/threads/*.json`). A figure is a row of that file: a new one needs a line, no
code. Its run is named once under ``settings``, the mail under ``sources``, and what the mail leaves open,
with the settings that are tried, under ``assumptions``: those are committed before the comparison is made.
Knobs that somebody set with a figure from after the patch in view are owned up to under ``by_hand``.
"""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any, Final

from .result import Estimate, Replication, Result, interval

FOLDER: Final = Path(__file__).parent / "threads"

#: What a figure is to the model: given; fitted on; no evidence of its own, since another figure contains it or a knob
#: that it rests on was set by hand with one from after the patch in view; not seen.
ROLES: Final = ("input", "fitted", "dependent", "predicted")
#: What a figure measures; ``cpu`` and ``profile`` are shares of a CPU's time.
KINDS: Final = ("rate", "cpu", "profile", "size", "direction")


class FigureError(ValueError):
    """A thread file that says something impossible, or a figure that a run cannot answer."""


@dataclass(frozen=True)
class Source:
    """Where a figure stands: a message of the list."""

    who: str
    when: str
    what: str
    url: str

    def __str__(self) -> str:
        return f"{self.who}, {self.when}: {self.what}, {self.url}"


@dataclass(frozen=True)
class Reading:
    """How a figure is read from a replication: offset + scale * term * times / over.

    A term is ``metric:NAME``, ``rest:NAME`` (what a metric in percent leaves of 100), ``cpu:ROLE`` (busy share,
    percent; ``*`` is the mean of all CPUs) or ``profile:ROLE:SYMBOL+SYMBOL`` (share of the role's busy time, percent; a
    symbol that did not run counts 0; ``*`` is the busy time of all CPUs, as a profile of the whole system has it).
    """

    term: str
    over: str = ""
    times: str = ""
    scale: float = 1.0
    offset: float = 0.0

    def value(self, replication: Replication) -> float:
        """The number in one replication. Raises FigureError for a metric or a role that the run has not."""
        top = _term(replication, self.term) * (_term(replication, self.times) if self.times else 1.0)
        bottom = _term(replication, self.over) if self.over else 1.0
        return self.offset + (self.scale * top / bottom if bottom else 0.0)

    def resolution(self, replication: Replication) -> float:
        """How much one counted event changes the value: the least half-width of an interval."""
        bottom = abs(_term(replication, self.over)) if self.over else 1.0
        step = _step(replication, self.term)
        if self.times:
            one, other = (abs(_term(replication, term)) for term in (self.term, self.times))
            step = step * other + _step(replication, self.times) * one
        return abs(self.scale) * step / (bottom or 1.0)

    @property
    def symbols(self) -> tuple[str, ...]:
        """Symbols of a profile's term."""
        parts = self.term.split(":")
        return tuple(parts[2].split("+")) if parts[0] == "profile" else ()


def _term(replication: Replication, term: str) -> float:
    kind, _, name = term.partition(":")
    try:
        if kind == "metric":
            return replication.metrics[name]
        if kind == "rest":
            return 100.0 - replication.metrics[name]
        if kind == "cpu":
            every = replication.cpu.values()
            return sum(every) / len(every) if name == "*" else replication.cpu[name]
        if kind == "profile":
            role, _, symbols = name.partition(":")
            shares = replication.cpu if role == "*" else {role: 1.0}
            busy = sum(shares.values()) or 1.0
            return sum(
                share / busy * replication.profile[r].get(symbol, 0.0)
                for r, share in shares.items() for symbol in symbols.split("+")
            )
    except KeyError as error:
        raise FigureError(f"{term}: the run has no {error.args[0]!r}") from None
    raise FigureError(f"{term!r} is no term: metric:NAME, rest:NAME, cpu:ROLE or profile:ROLE:SYMBOL+SYMBOL")


def _step(replication: Replication, term: str) -> float:
    """How much one counted event changes a term."""
    kind, _, name = term.partition(":")
    return replication.resolution[name] if kind in ("metric", "rest") else 1e-9


@dataclass(frozen=True)
class Figure:
    """A number that a thread states.

    Parameters
    ----------
    thread, id, figure
        The thread; a name within it; words for a table.
    kind, reported, unit, role
        One of `KINDS`; the number; its unit; one of `ROLES`.
    source
        Where it stands.
    knobs
        The setting of its run; without a reading, the figure is only given.
    before
        For a direction: the setting that it is compared with. The value is the change in percent.
    assume
        What the thread leaves open, knob by knob, with the settings that the range runs over.
    fit
        For a fitted figure: the name by which `sim.fit` asks for it.
    """

    thread: str
    id: str
    figure: str
    kind: str
    reported: float
    unit: str
    role: str
    source: Source
    knobs: Mapping[str, int | str]
    reading: Reading | None
    before: Mapping[str, int | str] | None
    assume: Mapping[str, Sequence[int | str]]
    note: str
    fit: str = ""

    def settings(self) -> list[dict[str, int | str]]:
        """The settings of the range, one for each combination of assumptions; none if nothing is open."""
        if not self.assume:
            return []
        return [
            {**self.knobs, **dict(zip(self.assume, chosen, strict=True))}
            for chosen in itertools.product(*self.assume.values())
        ]

    def before_of(self, knobs: Mapping[str, int | str]) -> dict[str, int | str]:
        """The setting that a direction is compared with, under the same assumptions as `knobs`."""
        return {**knobs, **(self.before or {})}

    def read(self, result: Result, before: Result | None = None) -> Estimate:
        """The figure in a run: mean and 95 % interval over replications, never zero wide."""
        if self.reading is None:
            raise FigureError(f"{self.thread} {self.id} is not read from runs")
        reading = self.reading
        values = [reading.value(r) for r in result.replications]
        step = max(reading.resolution(r) for r in result.replications)
        if before is not None:
            old = [reading.value(r) for r in before.replications]
            values = [
                100.0 * (new / base - 1.0) if base else 0.0 for new, base in zip(values, old, strict=True)
            ]
            step = 100.0 * step / (min(old) or 1.0)
        found = Estimate(*interval(values, step), self.unit)
        if before is not None and found.low < -100.0:  # nothing falls by more than all of it; Student's t does not know
            found = replace(found, low=-100.0)
        return found

    def to_dict(self) -> dict[str, Any]:
        """The row for a page; ``metric``, ``cpu`` and ``symbol`` say where a result holds the number."""
        reading = self.reading or Reading("")
        kind, _, name = reading.term.partition(":")
        plain = self.before is None and reading == Reading(reading.term)  # neither scaled nor a quotient
        symbols = reading.symbols
        single = plain and len(symbols) == 1 and not name.startswith("*")
        cpu = name if plain and kind == "cpu" else name.partition(":")[0] if single else None
        return {
            "thread": self.thread,
            "id": self.id,
            "figure": self.figure,
            "kind": self.kind,
            "reported": self.reported,
            "unit": self.unit,
            "role": self.role,
            "source": str(self.source),
            "url": self.source.url,
            "note": self.note,
            "knobs": dict(self.knobs),
            "metric": name if plain and kind == "metric" else None,
            "cpu": cpu,
            "symbol": symbols[0] if single else None,
            "symbols": list(symbols),
            "assume": {knob: list(values) for knob, values in self.assume.items()},
        }


@dataclass(frozen=True)
class ByHand:
    """A knob of a thread's scenario whose value was chosen with a figure from after the patch in view.

    Attributes
    ----------
    knob
        Its name; the value is the knob's default.
    in_view
        The figure that was in view.
    runs
        Settings of the patched runs: what rests on the knob there is no prediction, whichever figure was in view.
    """

    knob: str
    in_view: Figure
    runs: tuple[Mapping[str, int | str], ...]


def threads() -> list[str]:
    """Threads whose figures are at hand."""
    return sorted(path.stem for path in FOLDER.glob("*.json"))


@cache
def load(thread: str) -> tuple[Figure, ...]:
    """The figures of a thread. Raises FigureError for an unknown one, or with what is wrong in its file."""
    if thread not in threads():
        raise FigureError(f"no figures of a thread {thread!r}; there are {', '.join(threads())}")
    return parse(json.loads((FOLDER / f"{thread}.json").read_text(encoding="utf-8")))


@cache
def by_hand(thread: str) -> tuple[ByHand, ...]:
    """Knobs of a thread that were set by hand with a figure from after the patch in view. Raises what `load` raises."""
    known = {figure.id: figure for figure in load(thread)}
    document = json.loads((FOLDER / f"{thread}.json").read_text(encoding="utf-8"))
    return tuple(
        ByHand(row["knob"], known[row["in_view"]], tuple(document["settings"][name] for name in row["runs"]))
        for row in document.get("by_hand", ())
    )


def figures(thread: str | None = None) -> list[Figure]:
    """The figures of one thread or of all."""
    return [f for name in ([thread] if thread else threads()) for f in load(name)]


def values(thread: str) -> dict[str, float]:
    """The stated numbers of a thread by name, for `sim.fit`, which reads those it fits on and no other."""
    return {figure.fit or figure.id: figure.reported for figure in load(thread)}


def parse(document: Mapping[str, Any]) -> tuple[Figure, ...]:
    """Figures of a thread's document; FigureError names the row and what is wrong with it."""
    thread = str(document["thread"])
    rows = tuple(_figure(thread, document, row) for row in document["figures"])
    seen: set[str] = set()
    for row in rows:
        if row.id in seen:
            raise FigureError(f"{thread}: two figures are called {row.id!r}")
        seen.add(row.id)
    return rows


_REQUIRED: Final = ("id", "figure", "kind", "reported", "unit", "role", "source")
_ALLOWED: Final = (*_REQUIRED, "setting", "before", "read", "assume", "note", "fit")


def _figure(thread: str, document: Mapping[str, Any], row: Mapping[str, Any]) -> Figure:
    where = f"{thread} {row.get('id', '?')}"
    for problem in _problems(document, row):
        raise FigureError(f"{where}: {problem}")
    read = row.get("read")
    return Figure(
        thread,
        row["id"],
        row["figure"],
        row["kind"],
        float(row["reported"]),
        row["unit"],
        row["role"],
        Source(**document["sources"][row["source"]]),
        document["settings"][row["setting"]] if "setting" in row else {},
        None if read is None else Reading(read) if isinstance(read, str) else Reading(**read),
        document["settings"][row["before"]] if "before" in row else None,
        document["assumptions"][row["assume"]] if "assume" in row else {},
        row.get("note", ""),
        row.get("fit", ""),
    )


def _problems(document: Mapping[str, Any], row: Mapping[str, Any]) -> Iterator[str]:
    yield from (f"lacks {key!r}" for key in _REQUIRED if key not in row)
    yield from (f"{key!r} is not a key of a figure" for key in row if key not in _ALLOWED)
    for key, table in (
        ("source", "sources"),
        ("setting", "settings"),
        ("before", "settings"),
        ("assume", "assumptions"),
    ):
        if key in row and row[key] not in document.get(table, {}):
            yield f"{row[key]!r} is not among the {table}"
    if row.get("role") not in ROLES:
        yield f"role {row.get('role')!r} is none of {', '.join(ROLES)}"
    if row.get("kind") not in KINDS:
        yield f"kind {row.get('kind')!r} is none of {', '.join(KINDS)}"
    if (row.get("kind") == "direction") != ("before" in row):
        yield "a direction, and nothing else, says what it is compared with"
    if (row.get("role") == "fitted") != ("fit" in row):
        yield "a fitted figure, and no other, names what is fitted on it"
    if row.get("role") != "input" and not ("read" in row and "setting" in row):
        yield "only an input may stand without a run"
    if "read" in row and "setting" not in row:
        yield "a reading needs a setting"
