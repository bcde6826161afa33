"""Numbers drawn from words."""

from __future__ import annotations

from collections import Counter

import pytest

from sim.exercises.draw import Draw, hashed


def test_the_hash_is_fnv_1a_with_an_end_after_each_word() -> None:
    assert hashed() == 0xCBF29CE484222325
    assert hashed("a") != hashed("a", "") != hashed("", "a")
    assert hashed("ab", "c") != hashed("a", "bc")


def test_the_generator_is_splitmix64() -> None:
    draw = Draw()
    draw.state = 1234567  # the vector that implementations of splitmix64 are compared by
    assert [draw.next() for _ in range(3)] == [6457827717110365317, 3203168211198807973, 9817491932198370423]


def test_a_name_is_the_same_name_however_its_accents_are_typed() -> None:
    assert Draw("\u00e9milie").next() == Draw("e\u0301milie").next()


def test_each_value_of_a_range_is_drawn_about_as_often() -> None:
    drawn = Counter(Draw("even", str(k)).between(10, 40, 10) for k in range(4000))
    assert sorted(drawn) == [10, 20, 30, 40]
    assert max(drawn.values()) < 1.15 * min(drawn.values())


def test_nothing_is_drawn_from_nothing() -> None:
    with pytest.raises(ValueError, match="below 0"):
        Draw("x").below(0)
