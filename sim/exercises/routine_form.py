"""The form of an answer that is a routine: a text that can be put together and that the verifier lets pass."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

from .forms import Json, NotAccepted
from .notation import MOST_COLUMNS, MOST_LINES, RoutineError

LONGEST: Final = MOST_LINES * 80


@dataclass(frozen=True)
class Routine:
    """A text that `fill`, such as `sim.exercises.pressure_mark.with_mark`, takes. Nothing of it is run here."""

    fill: Callable[[str], Any]

    @property
    def expected(self) -> str:
        return f"a routine as text, at most {MOST_LINES} lines of {MOST_COLUMNS} characters"

    def accept(self, answer: object) -> Json:
        if not isinstance(answer, str) or not answer.strip():
            raise NotAccepted(f"{type(answer).__name__} {str(answer)[:40]!r} is not {self.expected}")
        if len(answer) > LONGEST:
            raise NotAccepted(f"a text of {len(answer):,} characters is not {self.expected}")
        try:
            self.fill(answer)
        except RoutineError as error:
            raise NotAccepted(f"the routine is not sound: {error}") from None
        return answer
