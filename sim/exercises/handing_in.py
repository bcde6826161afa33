"""Handing an answer in: its form is checked, and it goes into the notebook's output as data.

What a notebook puts out is all that a grader takes from it. The check that knows the right answer runs elsewhere.
"""

from __future__ import annotations

import difflib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from . import assignments
from .forms import Json, NotAccepted
from .identity import typed, who

MIME: Final = "application/vnd.receive-path.answer+json"
LONGEST_BYTES: Final = 100_000


@dataclass(frozen=True)
class HandedIn:
    """An answer as data; a notebook shows its text and keeps the rest beside it."""

    question: str
    answer: Json
    typed: str | None
    shown: str

    def __repr__(self) -> str:
        return self.shown

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> Mapping[str, Any]:
        data = {"question": self.question, "answer": self.answer, "typed": self.typed}
        return {MIME: data, "text/plain": self.shown}


def hand_in(question: str, answer: object) -> HandedIn:
    """Hand an answer in. None stands for no answer yet.

    Raises
    ------
    NotAccepted
        if no assignment asks that question, or if the answer cannot be one: its type, its unit, its range.
    """
    try:
        form = assignments.load(assignments.holder(question).name).instance(question, who()).question.form
    except KeyError:
        known = [name for each in assignments.names() for name in assignments.load(each).names]
        near = difflib.get_close_matches(str(question), known, 1)
        raise NotAccepted(f"nobody asks {question!r}" + (f"; did you mean {near[0]!r}?" if near else "")) from None
    if answer is None:
        return HandedIn(question, None, typed(), f"{question}: not answered yet")
    data = form.accept(answer)
    size = len(json.dumps(data, allow_nan=False))
    if size > LONGEST_BYTES:
        raise NotAccepted(f"the answer takes {size:,} bytes; at most {LONGEST_BYTES:,} are taken")
    text = json.dumps(data, ensure_ascii=False)
    return HandedIn(question, data, typed(), f"handed in: {question} = {text if len(text) < 200 else '...'}")
