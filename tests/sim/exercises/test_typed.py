"""Numbers as they are typed: with points, commas, thousands apart."""

from __future__ import annotations

import pytest

from sim.exercises.typed import NotANumber, number


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("38.48", 38.48), ("38,48", 38.48), (" 0,583 ", 0.583), ("−1,5", -1.5), ("1,234.5", 1234.5),
        ("1.234,5", 1234.5), ("1,234,567", 1234567), ("1.234.567", 1234567), ("1 234", 1234), ("1e-05", 1e-5),
        (".5", 0.5), ("12,3456", 12.3456), ("3.848", 3.848), ("1234,567", 1234.567), ("7", 7),
    ],
)  # fmt: skip
def test_a_number_has_one_reading(text: str, value: float) -> None:
    assert number(text) == value


@pytest.mark.parametrize("text", ["", "x", "1,2,3", "1.2.3", "1,23.4", "1,5e", "--1", "1.2,3,4", "nan", "inf"])
def test_what_is_no_number_is_refused(text: str) -> None:
    with pytest.raises(NotANumber, match="This is no number"):
        number(text)


def test_what_is_two_numbers_is_asked_for_again() -> None:
    with pytest.raises(NotANumber, match=r"3,848 can be read in two ways: write 3848 or 3\.848\."):
        number("3,848")
