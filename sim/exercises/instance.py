"""Questions with numbers of one's own: an assignment asks the same of everybody, of other machines and workloads.

>>> from sim.exercises.instance import Assignment, Given, Question
>>> from sim.exercises.forms import Number
>>> rate = Question("rate", "A rate", "{frames} frames in {time_us} us?", Number("Mpps", 0, 100))
>>> toy = Assignment("toy", "A toy", 5, (Given("frames", 10, 90),), (Given("time_us", 2, 9),), (rate,))
>>> 10 <= toy.instance("rate", "ada")["frames"] <= 90
True
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from .draw import Draw
from .forms import Form

Fact = int | str


@dataclass(frozen=True)
class Given:
    """An integer that is drawn: one of low, low + step, ... up to high."""

    name: str
    low: int
    high: int
    step: int = 1

    def draw(self, draw: Draw) -> Fact:
        return draw.between(self.low, self.high, self.step)


@dataclass(frozen=True)
class Picked:
    """One of a few integers or words that is drawn."""

    name: str
    choices: Sequence[Fact]

    def draw(self, draw: Draw) -> Fact:
        return draw.pick(self.choices)


@dataclass(frozen=True)
class Question:
    """What is asked.

    Attributes
    ----------
    name, title
        Unique over the course; a few words.
    text
        The question, in Markdown, with ``{given}`` where a number of the student's stands; ``{given:,}`` groups digits.
    form
        How the answer must look, with its unit.
    tolerance
        How near the answer must be, for people.
    givens
        What is drawn for this question alone.
    """

    name: str
    title: str
    text: str
    form: Form
    tolerance: str = ""
    givens: tuple[Given | Picked, ...] = ()


@dataclass(frozen=True)
class Instance(Mapping[str, Fact]):
    """A question with a student's numbers; ``instance["mtu"]`` is a given."""

    assignment: str
    question: Question
    student: str
    givens: Mapping[str, Fact] = field(repr=False)

    def __getitem__(self, name: str) -> Fact:
        if name not in self.givens:
            raise KeyError(f"{self.question.name} has no given {name!r}; it has {', '.join(self.givens)}")
        return self.givens[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.givens)

    def __len__(self) -> int:
        return len(self.givens)

    def number(self, name: str) -> int:
        """A given that is an integer; TypeError if it is a word."""
        value = self[name]
        if isinstance(value, str):
            raise TypeError(f"{name} is the word {value!r}, not a number")
        return value

    @property
    def name(self) -> str:
        """The question's name."""
        return self.question.name

    @property
    def text(self) -> str:
        """The question with this student's numbers, in Markdown."""
        return self.question.text.format(**self.givens)

    def _repr_markdown_(self) -> str:
        asked = f"Expected: {self.question.form.expected}."
        near = f" Tolerance: {self.question.tolerance}." if self.question.tolerance else ""
        return f"**{self.question.title}** ({self.student})\n\n{self.text}\n\n{asked}{near}"


@dataclass(frozen=True)
class Assignment:
    """Questions on one machine and workload that are drawn together."""

    name: str
    title: str
    minutes: int
    machine: tuple[Given | Picked, ...]
    workload: tuple[Given | Picked, ...]
    questions: tuple[Question, ...]

    def instance(self, question: str, student: str) -> Instance:
        """One question for a student; KeyError with the names there are."""
        found = next((q for q in self.questions if q.name == question), None)
        if found is None:
            raise KeyError(f"{self.name} has no question {question!r}; it has {', '.join(self.names)}")
        shared = {g.name: g.draw(Draw(self.name, student, "", g.name)) for g in (*self.machine, *self.workload)}
        own = {g.name: g.draw(Draw(self.name, student, question, g.name)) for g in found.givens}
        return Instance(self.name, found, student, {**shared, **own})

    def instances(self, student: str) -> dict[str, Instance]:
        """All questions for a student, by name."""
        return {name: self.instance(name, student) for name in self.names}

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the questions, in order."""
        return tuple(q.name for q in self.questions)
