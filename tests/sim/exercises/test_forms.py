"""What an answer may look like."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from sim.exercises.forms import Choice, Form, NotAccepted, Number, Parts, Several, Text

RATE = Number("Gbit/s", 1, 400)
COUNT = Number("segments", 1, 200, whole=True)
BOTH = Parts({"rate": RATE, "binds": Choice(("reader", "wire"))})


@pytest.mark.parametrize(
    ("form", "answer", "plain"),
    [
        (RATE, 55, 55), (RATE, 55.5, 55.5), (RATE, np.float64(55.5), 55.5), (RATE, np.int64(55), 55),
        (COUNT, 45.0, 45), (Choice(("reader", "wire")), " wire ", "wire"), (Text(10), "short", "short"),
        (BOTH, {"rate": 55.5, "binds": "wire"}, {"rate": 55.5, "binds": "wire"}),
        (Several(COUNT, 0, 3), (1, 2), [1, 2]), (Several(COUNT, 0, 3), [], []),
    ],
)
def test_an_answer_becomes_plain_data(form: Form, answer: object, plain: Any) -> None:
    accepted = form.accept(answer)
    assert accepted == plain
    assert type(accepted) is type(plain)


@pytest.mark.parametrize(
    ("form", "answer", "said"),
    [
        (RATE, True, "True is not a number"), (RATE, "55", "'55' is not a number from 1 to 400 Gbit/s"),
        (RATE, float("nan"), "nan"), (RATE, float("inf"), "inf"), (RATE, 55_000, "are the units right"),
        (RATE, 10**400, "inf is not"), (RATE, 10**5000, "inf is not"), (Text(10), 10**5000, "this int"),
        (RATE, 1j, "is not a number"), (COUNT, 45.5, "a whole number"),
        (Choice(("reader", "wire")), "reeder", "did you mean 'reader'"), (Choice(("reader",)), 3, "one of 'reader'"),
        (Text(10), "x" * 11, "11 characters"), (Text(10), " ", "is not a text"),
        (BOTH, {"rate": 55}, "the part 'binds' is missing"), (BOTH, {"rate": 55, "bind": "x"}, "did you mean 'binds'"),
        (BOTH, {"rate": "x", "binds": "wire"}, "rate: 'x' is not a number"), (BOTH, [1], "is not a dict with 'rate'"),
        (Several(COUNT, 2, 2), [1], "a list of 1 is not a list of 2"), (Several(COUNT, 1, 2), "12", "is not a list"),
    ],
    ids=lambda value: "" if isinstance(value, int) else None,  # an id of 10**5000 has no text
)
def test_what_cannot_be_an_answer_is_told_in_words(form: Form, answer: object, said: str) -> None:
    with pytest.raises(NotAccepted, match=said):
        form.accept(answer)


def test_a_notebook_shows_a_refusal_in_one_line() -> None:
    with pytest.raises(NotAccepted) as refused:
        RATE.accept("x")
    assert refused.value._render_traceback_() == [f"Not handed in: {refused.value}"]
