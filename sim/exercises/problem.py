"""Practice: problems without end, each with its answer and the way to it.

>>> from sim.exercises import practice
>>> problem = practice("gro-time", seed=7)
>>> problem.check(problem.answer()).right
True

Nothing here is graded. The book's pages draw the same problems from the same seeds, and solve them alike: with
formulas that are data (`sim.exercises.formula`) and, where a run answers, with the engine.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final, NamedTuple

from ..schema import nearest
from . import formula, kinds_memory, kinds_path, kinds_runs, kinds_series, kinds_threads
from .draw import Draw
from .kind import CHAPTERS, REPLICATIONS, Kind, Run, Step

KINDS: Final[dict[str, Kind]] = {
    kind.name: kind
    for chapter in CHAPTERS
    for kind in (*kinds_path.KINDS, *kinds_memory.KINDS, *kinds_threads.KINDS, *kinds_series.KINDS, *kinds_runs.KINDS)
    if kind.chapter == chapter
}
STREAM: Final = "practice"  # the first word of every draw
#: Factors that are slips of a unit, not of the thought.
UNIT_SLIPS: Final = (
    (8, "Are these bits or bytes?"), (1000, "A unit is a thousand off."), (1e6, "A unit is a million off."),
)
Quantity = float | str


class Verdict(NamedTuple):
    """Whether an answer is right, and what is said of it."""

    right: bool
    message: str


@dataclass(frozen=True)
class Problem:
    """A kind of problem with numbers."""

    kind: Kind
    seed: int

    @cached_property
    def known(self) -> dict[str, Quantity]:
        """Everything that the text may state, by name."""
        out: dict[str, Quantity] = {
            g.name: g.draw(Draw(STREAM, str(self.seed), self.kind.name, g.name)) for g in self.kind.givens
        }
        _follow(self.kind.derived, out)
        _run(self.kind.before, out)
        return out

    @cached_property
    def solved(self) -> dict[str, Quantity]:
        """Everything: what is known, and the answer with all that leads to it."""
        out = dict(self.known)
        _run(self.kind.after, out)
        _follow(self.kind.steps, out)
        return out

    @property
    def text(self) -> str:
        """The question, in plain words."""
        return self.kind.text.format(**{name: _word(value) for name, value in self.known.items()})

    @property
    def unit(self) -> str:
        """The unit of the answer."""
        return self.kind.answer.unit

    def answer(self) -> float:
        """The right number."""
        return float(self.solved[self.kind.answer.name])

    def explanation(self) -> list[str]:
        """The way to the answer, a line a step, with the numbers filled in."""
        return [self._line(run) for run in self.kind.after] + [self._line(step) for step in self.kind.steps]

    def _line(self, step: Step | Run) -> str:
        value = formula.amount(float(self.solved[step.name]), step.unit)
        if isinstance(step, Run):
            return f"{step.words}, by a run: {value}"
        written = formula.text(formula.parse(step.formula), self.solved)
        same = written == formula.shown(float(self.solved[step.name]))
        return f"{step.words}: {value}" if same else f"{step.words}: {written} = {value}"

    def check(self, answer: float) -> Verdict:
        """Whether a number is right; if not, what the slip looks like."""
        if not math.isfinite(answer):
            return Verdict(False, "This is no number.")
        truth = self.answer()
        if self._near(answer, truth):
            return Verdict(True, f"Right: {formula.amount(truth, self.unit)}.")
        for trap in self.kind.traps:
            value = formula.evaluate(formula.parse(trap.formula), self.solved)
            if self._near(answer, value) and not self._near(truth, value):
                return Verdict(False, f"Not yet. {trap.hint}")
        if self.unit == "%" and answer and self._near(answer * 100, truth):
            return Verdict(False, "Not yet. That is a fraction; the answer is in percent.")
        side = "too high" if answer > truth else "too low"
        for factor, words in () if self.kind.within else UNIT_SLIPS[not self.kind.bits :]:
            if self._near(answer * factor, truth) or self._near(answer / factor, truth):
                return Verdict(False, f"Not yet: {side}. {words}")
        return Verdict(False, f"Not yet: {side}.")

    def _near(self, answer: float, truth: float) -> bool:
        allowed = self.kind.within or self.kind.within_pct / 100 * abs(truth)
        return abs(answer - truth) <= allowed + 1e-9

    def to_dict(self) -> dict[str, Any]:
        """The problem with its solution, as JSON."""
        return {
            "kind": self.kind.name, "seed": self.seed, "known": self.known, "text": self.text, "unit": self.unit,
            "answer": self.answer(), "explanation": self.explanation(),
        }  # fmt: skip

    def _repr_markdown_(self) -> str:
        return f"**{self.kind.title}** (problem {self.seed})\n\n{self.text}\n\n{expected(self.kind)}"


def expected(kind: Kind) -> str:
    """What is expected, in words: unit, tolerance, where the answer comes from."""
    unit = f" in {kind.answer.unit}" if kind.answer.unit else ""
    if kind.within:
        how = f"at most {formula.shown(kind.within)}{' points' if kind.answer.unit == '%' else ''} off"
    else:
        how = f"within {formula.shown(kind.within_pct)} % of the right number" if kind.within_pct else "exactly"
    return f"Answer{unit}, {how}." + (" A run of the engine gives it." if kind.after else "")


def practice(kind: str, seed: int) -> Problem:
    """A problem of a kind.

    Raises
    ------
    KeyError
        for an unknown kind, with the nearest one.
    """
    if kind not in KINDS:
        raise KeyError(f"no kind {kind!r}; {nearest(kind, KINDS)}")
    return Problem(KINDS[kind], seed)


def of_chapter(chapter: str) -> Iterator[Kind]:
    """The kinds of a chapter; KeyError for an unknown one, with the nearest."""
    if chapter not in CHAPTERS:
        raise KeyError(f"no chapter {chapter!r}; {nearest(chapter, CHAPTERS)}")
    return (kind for kind in KINDS.values() if kind.chapter == chapter)


def _word(value: Quantity) -> str:
    return value if isinstance(value, str) else formula.shown(float(value))


def _follow(steps: tuple[Step, ...], known: dict[str, Quantity]) -> None:
    for step in steps:
        known[step.name] = formula.evaluate(formula.parse(step.formula), known)


def _run(runs: tuple[Run, ...], known: dict[str, Quantity]) -> None:
    from .. import scenarios  # late: most kinds need no engine, and this one takes seconds to load

    for run in runs:
        knobs = {name: _knob(value, known) for name, value in run.to_dict()["knobs"].items()}
        result = scenarios.load(run.scenario).run(seed=1, replications=REPLICATIONS, **knobs)
        known[run.name] = result.metrics[run.metric].mean * run.scale


def _knob(value: Any, known: dict[str, Quantity]) -> Any:
    if isinstance(value, list) and len(value) == 1:
        return value[0]
    if isinstance(value, str) and isinstance(known[value], str):
        return known[value]
    return int(formula.evaluate(value, known))
