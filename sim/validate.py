"""Validation: every figure of every thread beside the simulation's, with a verdict that can be a miss.

A predicted figure is a ``hit`` or a ``miss``. One that the model was given is ``given``, but a figure that it
was fitted on, or that depends on such, must come out too: if it does not, that is a miss as well.

The rules, fixed beforehand:

- a rate within 5 %;
- a share of time of 10 % and more within 5 points, a smaller one within a factor of two;
- or the reported figure inside a range over the thread's open assumptions, if that is no wider than 15 % of
  it; a wider range is a miss by itself, for rates and for shares of 10 % and more;
- a packet size within 1 %, which no other number of segments meets;
- a direction: the interval of the change lies on the reported side of zero;
- a figure of zero: the interval reaches down to it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, Final

from . import batch, reported, scenarios
from .batch import Job, Pool, Progress
from .reported import Figure
from .result import Estimate, Result
from .scenarios import RunError, Scenario

RATE: Final = 0.05
SIZE: Final = 0.01
POINTS: Final = 5.0
LARGE_SHARE: Final = 10.0
FACTOR: Final = 2.0
RANGE: Final = 0.15

SHARES: Final = ("cpu", "profile")
Row = dict[str, Any]


def within(kind: str, stated: float, found: Estimate) -> bool:
    """Whether a simulated number is near enough to the stated one, by the rule of its kind."""
    if kind == "direction":
        return found.low > 0 if stated > 0 else found.high < 0
    if kind in SHARES and stated < LARGE_SHARE:
        return stated / FACTOR <= found.mean <= stated * FACTOR
    if kind in SHARES:
        return abs(found.mean - stated) <= POINTS
    if stated == 0:
        return found.low <= 0
    return abs(found.mean - stated) <= (SIZE if kind == "size" else RATE) * abs(stated)


def verdict(
    kind: str, role: str, stated: float, found: Estimate | None, span: tuple[float, float] | None
) -> str:
    """``hit``, ``miss`` or ``given``.

    Parameters
    ----------
    found
        Mean and interval; None for an input that is not read from a run.
    span
        Lowest and highest mean over the open assumptions, if there are any.
    """
    if role == "input" or found is None:
        return "given"
    good = within(kind, stated, found)
    if span is not None and kind != "direction":
        narrow = span[1] - span[0] <= RANGE * abs(stated)
        good = good or (narrow and span[0] <= stated <= span[1])
        if not narrow and (kind not in SHARES or stated >= LARGE_SHARE):
            good = False
    if not good:
        return "miss"
    return "hit" if role == "predicted" else "given"


@dataclass(frozen=True)
class Plan:
    """The runs of one figure: at its setting, over its assumptions; each with the run it is compared with."""

    figure: Figure
    at: tuple[Job, Job | None]
    over: tuple[tuple[Job, Job | None], ...]

    @classmethod
    def of(cls, figure: Figure, scenario: Scenario, seed: int, replications: int | None) -> Plan:
        """Plan a figure's runs. Raises KnobError if its file names a setting that the scenario refuses."""

        def pair(knobs: Mapping[str, Any]) -> tuple[Job, Job | None]:
            before = (
                None
                if figure.before is None
                else Job.of(scenario, figure.before_of(knobs), seed, replications)
            )
            return Job.of(scenario, knobs, seed, replications), before

        return cls(figure, pair(figure.knobs), tuple(pair(knobs) for knobs in figure.settings()))

    def jobs(self) -> list[Job]:
        """All jobs of the plan."""
        return [job for pair in (self.at, *self.over) for job in pair if job is not None]

    def row(self, results: Mapping[Job, Result]) -> Row:
        """The figure's row, from the results of its jobs."""

        def estimate(pair: tuple[Job, Job | None]) -> Estimate:
            return self.figure.read(results[pair[0]], None if pair[1] is None else results[pair[1]])

        found = estimate(self.at)
        means = [found.mean, *(estimate(pair).mean for pair in self.over)]
        return row(self.figure, found, (min(means), max(means)) if self.over else None)


def row(figure: Figure, found: Estimate | None, span: tuple[float, float] | None = None) -> Row:
    """A row of the JSON contract."""
    shares = figure.kind in (*SHARES, "direction")
    difference = None if found is None else found.mean - figure.reported
    relative = None
    if difference is not None and not shares and figure.reported:
        relative = 100.0 * difference / figure.reported
    return {
        "thread": figure.thread,
        "figure": figure.figure,
        "unit": figure.unit,
        "reported": figure.reported,
        "simulated": found.mean if found else None,
        "low": found.low if found else None,
        "high": found.high if found else None,
        "range_low": span[0] if span else None,
        "range_high": span[1] if span else None,
        "role": figure.role,
        "error_pct": relative,
        "error_points": difference if shares else None,
        "verdict": verdict(figure.kind, figure.role, figure.reported, found, span),
        "source": str(figure.source),
        "note": figure.note,
    }


@cache
def _kinds() -> dict[tuple[str, str], str]:
    return {(f.thread, f.figure): f.kind for f in reported.figures()}


def judgement(row: Mapping[str, Any]) -> str:
    """A row's verdict for people: whether it was given for the direction of a change alone, whatever its size."""
    by_direction = _kinds().get((row["thread"], row["figure"])) == "direction"
    return f"{row['verdict']}, by its direction" if by_direction else str(row["verdict"])


def _figures(thread: str | None) -> list[Figure]:
    if thread is not None:
        return reported.figures(thread)
    return [f for f in reported.figures() if f.thread in scenarios.names()]


def rows(
    thread: str | None = None,
    *,
    seed: int = 1,
    replications: int | None = None,
    executor: Pool = None,
    progress: Progress | None = None,
    figures: Iterable[Figure] | None = None,
    changes: Mapping[str, int] | None = None,
) -> list[Row]:
    """Run what the figures need and hold them against it.

    Parameters
    ----------
    thread
        One thread; by default all whose scenario there is.
    figures
        Other figures than those of the threads' files.
    changes
        Other values for constants, ps, as in `scenarios.load`.

    Raises
    ------
    FigureError
        for an unknown thread, or a figure that no run answers.
    RunError
        if a run ends before its time.
    """
    chosen = list(_figures(thread) if figures is None else figures)
    loaded = {name: scenarios.load(name, changes=changes) for name in dict.fromkeys(f.thread for f in chosen)}
    plans = [None if f.reading is None else Plan.of(f, loaded[f.thread], seed, replications) for f in chosen]
    jobs = list(dict.fromkeys(job for plan in plans if plan for job in plan.jobs()))
    results: dict[Job, Result] = {}
    for job, answer in zip(jobs, batch.run(jobs, executor, progress), strict=True):
        if isinstance(answer, RunError):
            raise answer
        results[job] = answer
    return [
        row(f, None) if plan is None else plan.row(results) for f, plan in zip(chosen, plans, strict=True)
    ]


@dataclass(frozen=True)
class Count:
    """How the figures of a thread fared; `predicted` are its rates and CPU shares that were predicted."""

    thread: str
    figures: int
    given: int
    hits: int
    misses: int
    predicted: int
    predicted_misses: int


def counts(rows: Sequence[Row], figures: Iterable[Figure] | None = None) -> list[Count]:
    """Verdicts by thread, in the order of the rows."""
    kinds = _kinds() if figures is None else {(f.thread, f.figure): f.kind for f in figures}
    out = []
    for thread in dict.fromkeys(r["thread"] for r in rows):
        mine = [r for r in rows if r["thread"] == thread]
        main = [
            r
            for r in mine
            if r["role"] == "predicted" and kinds.get((thread, r["figure"])) in ("rate", "cpu")
        ]
        verdicts = [r["verdict"] for r in mine]
        out.append(
            Count(
                thread,
                len(mine),
                verdicts.count("given"),
                verdicts.count("hit"),
                verdicts.count("miss"),
                len(main),
                sum(r["verdict"] == "miss" for r in main),
            )
        )
    return out
