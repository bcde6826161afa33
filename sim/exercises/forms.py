"""What an answer may look like: its type, unit and plausible range, never whether it is right.

A form is asked twice: in the student's notebook, so that a slip of the keyboard is told at once, and by the grader,
who has only data and trusts none of them.
"""

from __future__ import annotations

import difflib
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any, Protocol

Json = Any


class NotAccepted(ValueError):
    """An answer that cannot be one; the message says what is expected."""

    def _render_traceback_(self) -> list[str]:
        return [f"Not handed in: {self}"]


class Form(Protocol):
    """How an answer must look."""

    def accept(self, answer: object) -> Json:
        """The answer as plain JSON data; NotAccepted if it cannot be one."""
        ...

    @property
    def expected(self) -> str:
        """What is expected, for people."""
        ...


@dataclass(frozen=True)
class Number:
    """A finite number in a unit, within a generous range."""

    unit: str
    low: float
    high: float
    whole: bool = False

    @property
    def expected(self) -> str:
        kind = "a whole number" if self.whole else "a number"
        return f"{kind} from {self.low:,g} to {self.high:,g} {self.unit}".rstrip()

    def accept(self, answer: object) -> Json:
        if isinstance(answer, bool) or not isinstance(answer, Real):
            raise NotAccepted(f"{_shown(answer)} is not {self.expected}")
        try:
            value = float(answer)
        except OverflowError:
            value = math.inf
        if not math.isfinite(value):
            raise NotAccepted(f"{value} is not {self.expected}")
        if self.whole and value != int(value):
            raise NotAccepted(f"{value:g} is not {self.expected}")
        if not self.low <= value <= self.high:
            raise NotAccepted(f"{value:,g} cannot be: {self.expected} is expected; are the units right?")
        return int(value) if self.whole or isinstance(answer, Integral) else value


@dataclass(frozen=True)
class Choice:
    """One of a few words."""

    words: tuple[str, ...]

    @property
    def expected(self) -> str:
        return "one of " + ", ".join(repr(w) for w in self.words)

    def accept(self, answer: object) -> Json:
        if isinstance(answer, str) and answer.strip() in self.words:
            return answer.strip()
        near = difflib.get_close_matches(answer, self.words, 1) if isinstance(answer, str) else []
        hint = f"; did you mean {near[0]!r}?" if near else ""
        raise NotAccepted(f"{_shown(answer)} is not {self.expected}{hint}")


@dataclass(frozen=True)
class Text:
    """A text of some length."""

    longest: int = 4000

    @property
    def expected(self) -> str:
        return f"a text of at most {self.longest:,} characters"

    def accept(self, answer: object) -> Json:
        if not isinstance(answer, str) or not answer.strip():
            raise NotAccepted(f"{_shown(answer)} is not {self.expected}")
        if len(answer) > self.longest:
            raise NotAccepted(f"a text of {len(answer):,} characters is not {self.expected}")
        return answer


@dataclass(frozen=True)
class Parts:
    """Several answers by name, as a dict."""

    parts: Mapping[str, Form]

    @property
    def expected(self) -> str:
        return "a dict with " + "; ".join(f"{name!r}: {form.expected}" for name, form in self.parts.items())

    def accept(self, answer: object) -> Json:
        if not isinstance(answer, Mapping):
            raise NotAccepted(f"{_shown(answer)} is not {self.expected}")
        for name in answer:
            if name not in self.parts:
                near = difflib.get_close_matches(str(name), self.parts, 1)
                hint = f"; did you mean {near[0]!r}?" if near else f"; there are {', '.join(map(repr, self.parts))}"
                raise NotAccepted(f"there is no part {_shown(name)}{hint}")
        return {name: self._part(name, form, answer) for name, form in self.parts.items()}

    @staticmethod
    def _part(name: str, form: Form, answer: Mapping[Any, Any]) -> Json:
        if answer.get(name) is None:
            raise NotAccepted(f"the part {name!r} is missing: {form.expected}")
        try:
            return form.accept(answer[name])
        except NotAccepted as error:
            raise NotAccepted(f"{name}: {error}") from None


@dataclass(frozen=True)
class Several:
    """A list of answers of one form."""

    form: Form
    shortest: int
    longest: int

    @property
    def expected(self) -> str:
        count = str(self.shortest) if self.shortest == self.longest else f"{self.shortest} to {self.longest}"
        return f"a list of {count}, each {self.form.expected}"

    def accept(self, answer: object) -> Json:
        if not isinstance(answer, Sequence) or isinstance(answer, str | bytes):
            raise NotAccepted(f"{_shown(answer)} is not {self.expected}")
        if not self.shortest <= len(answer) <= self.longest:
            raise NotAccepted(f"a list of {len(answer)} is not {self.expected}")
        return [self.form.accept(item) for item in answer]


def _shown(answer: object) -> str:
    try:
        text = repr(answer)
    except (ValueError, RecursionError):  # an integer of many thousand digits has no text
        text = f"this {type(answer).__name__}"
    return text if len(text) <= 60 else text[:57] + "..."
