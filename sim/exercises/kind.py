"""Kinds of practice problems, as data: what is drawn, what is asked, and each step to the answer.

A kind is written once and read twice, by `sim.exercises.problem` and by the book's pages; so it holds texts,
formulas and names of knobs, and no code.
"""

from __future__ import annotations

import string
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from .. import packing
from . import formula
from .instance import Given, Picked

#: Where a kind belongs: the page of the book that explains what it takes, in the book's order.
CHAPTERS: Final = {
    "machine": ("The machine", "book/machine"),
    "path": ("A packet's way", "book/path"),
    "steering": ("Steering", "book/steering"),
    "memory": ("Memory", "book/memory"),
    "reading": ("Reading patches and profiles", "book/reading"),
    "tcp-prequeue": ("A shared count", "chapters/tcp-prequeue"),
    "packet-rollover": ("A contended lock", "chapters/packet-rollover"),
    "udpv6-early-demux": ("A look-up too many", "chapters/udpv6-early-demux"),
    "tcp-rx-skb-cache": ("One packet kept", "chapters/tcp-rx-skb-cache"),
    "tcp-5.17": ("One series, twenty patches", "chapters/tcp-5.17/index"),
    "after": ("What came after", "book/after"),
}
REPLICATIONS: Final = 3  # of a run that gives or answers
#: Payload of a merged packet at most: over IPv6 with time stamps, whose headers count once.
MERGED_BYTES: Final = packing.GRO_LIMIT_BYTES - 1 - packing.headers_bytes("IPv6", 1)
#: Of as many segments as were drawn for a merged packet (`most`), those that GRO can put into one.
SEGMENTS: Final = f"min(most, floor({MERGED_BYTES} / payload_bytes))"


@dataclass(frozen=True)
class Step:
    """A quantity that follows: its name, what it is in words, its unit, the formula."""

    name: str
    words: str
    unit: str
    formula: str

    def to_dict(self) -> dict[str, Any]:
        """As JSON, the formula as a tree."""
        return {"name": self.name, "words": self.words, "unit": self.unit, "tree": formula.parse(self.formula)}


@dataclass(frozen=True)
class Run:
    """A quantity that a run of a scenario gives: the mean of a metric at some knobs, each a formula or a word.

    A word is written in quotes: ``{"socket": "'tcp'"}``.
    """

    name: str
    words: str
    unit: str
    scenario: str
    metric: str
    knobs: Mapping[str, str]
    scale: float = 1.0

    def to_dict(self) -> dict[str, Any]:
        """As JSON: knobs are trees, or words in a list of one."""
        knobs = {k: [v.strip("'")] if v.startswith("'") else formula.parse(v) for k, v in self.knobs.items()}
        return {
            "name": self.name, "words": self.words, "unit": self.unit, "scenario": self.scenario,
            "metric": self.metric, "knobs": knobs, "scale": self.scale,
        }  # fmt: skip


@dataclass(frozen=True)
class Trap:
    """What a usual slip gives, and the hint for it."""

    formula: str
    hint: str

    def to_dict(self) -> dict[str, Any]:
        """As JSON."""
        return {"tree": formula.parse(self.formula), "hint": self.hint}


@dataclass(frozen=True)
class Kind:
    """A kind of problem.

    Attributes
    ----------
    name, title, chapter
        Unique among kinds; a few words; a key of `CHAPTERS`.
    givens
        What is drawn, as integers or words.
    derived, before
        Quantities that follow from the drawn ones or from runs, and that the text may state, too.
    text
        The question, with ``{name}`` where a number stands.
    after, steps
        Runs that answer, and the steps to the answer; the last quantity is the answer.
    hint
        Where to begin, without a number.
    within_pct, within
        How near an answer must be: in percent of the right one, or, where that may be 0, in its unit; 0 for exactly.
    traps
        Usual slips.
    """

    name: str
    title: str
    chapter: str
    givens: tuple[Given | Picked, ...]
    text: str
    steps: tuple[Step, ...]
    hint: str
    within_pct: float = 1.0
    within: float = 0.0
    traps: tuple[Trap, ...] = ()
    derived: tuple[Step, ...] = ()
    before: tuple[Run, ...] = ()
    after: tuple[Run, ...] = ()

    def __post_init__(self) -> None:
        if self.chapter not in CHAPTERS:
            raise ValueError(f"{self.name}: no chapter {self.chapter!r}; there are {', '.join(CHAPTERS)}")
        if not self.steps and not self.after:
            raise ValueError(f"{self.name}: nothing leads to an answer")
        known = {given.name for given in self.givens}
        for wanted, new in self._order():
            if missing := sorted(set(wanted) - known):
                raise ValueError(f"{self.name}: {', '.join(missing)} stands there before it is known")
            known |= set(new)

    def _order(self) -> Iterator[tuple[list[str], list[str]]]:
        """What each part wants to know, and what is known after it."""
        for step in self.derived:
            yield list(formula.names(formula.parse(step.formula))), [step.name]
        for run in self.before:
            yield _of_knobs(run), [run.name]
        yield [name for _, name, _, _ in string.Formatter().parse(self.text) if name], []
        for run in self.after:
            yield _of_knobs(run), [run.name]
        for step in self.steps:
            yield list(formula.names(formula.parse(step.formula))), [step.name]
        for trap in self.traps:
            yield list(formula.names(formula.parse(trap.formula))), []

    @property
    def answer(self) -> Step | Run:
        """The quantity that is asked for."""
        return self.steps[-1] if self.steps else self.after[-1]

    @property
    def bits(self) -> bool:
        """Whether bits become bytes on the way, so that 8 is a factor to be forgotten."""
        return any(" 8" in step.formula for step in (*self.derived, *self.steps))

    @property
    def scenarios(self) -> tuple[str, ...]:
        """Scenarios that runs need."""
        return tuple(dict.fromkeys(run.scenario for run in (*self.before, *self.after)))

    def to_dict(self) -> dict[str, Any]:
        """As JSON, for a page."""
        return {
            "name": self.name,
            "title": self.title,
            "chapter": self.chapter,
            "givens": [
                {"name": g.name, "choices": list(g.choices)}
                if isinstance(g, Picked)
                else {"name": g.name, "low": g.low, "high": g.high, "step": g.step}
                for g in self.givens
            ],
            "text": self.text,
            "hint": self.hint,
            "within_pct": self.within_pct,
            "within": self.within,
            "bits": self.bits,
            "scenarios": list(self.scenarios),
            **{
                part: [one.to_dict() for one in getattr(self, part)]
                for part in ("derived", "before", "after", "steps", "traps")
            },
        }


def _of_knobs(run: Run) -> list[str]:
    trees = [value for value in run.to_dict()["knobs"].values() if not _word(value)]
    return [name for tree in trees for name in formula.names(tree)]


def _word(value: Any) -> bool:
    return isinstance(value, list) and len(value) == 1
