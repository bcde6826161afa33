"""Knobs: a setting is checked, and a mistake is told in words that help."""

from __future__ import annotations

from typing import Any

import pytest

from sim.knob import Knob, KnobError, numbers, settings

SWITCH = Knob("rfs", 0, "a switch")
RATE = Knob("link_gbps", 100, "a rate", 10, 400, 10, "Gbit/s")
PLACE = Knob("reader_cpu", "same", "a place", choices=("same", "other"))
GONE = Knob("zerocopy", 0, "cannot be modelled", effect="refused", why="there is no zero-copy path")
ALL = (SWITCH, RATE, PLACE, GONE)


def test_what_is_not_given_stays_at_its_default() -> None:
    assert settings(ALL, {"link_gbps": 40}, "lab") == {
        "rfs": 0, "link_gbps": 40, "reader_cpu": "same", "zerocopy": 0
    }


def test_kinds_follow_from_range_and_choices() -> None:
    assert [k.kind for k in ALL] == ["switch", "int", "choice", "switch"]


@pytest.mark.parametrize(("setting", "number"), [(40, 40), ("40", 40), (40.0, 40), (True, None), ("40.5", None)])
def test_an_integer_knob_takes_whole_numbers_in_its_range(setting: Any, number: int | None) -> None:
    if number is None:
        with pytest.raises(KnobError, match="link_gbps"):
            RATE.number(setting)
    else:
        assert RATE.number(setting) == number


def test_a_switch_takes_true_and_false() -> None:
    assert (SWITCH.number(True), SWITCH.number(False)) == (1, 0)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"link_gpbs": 40}, "did you mean link_gbps"),
        ({"qqqq": 1}, "there are rfs, link_gbps, reader_cpu, zerocopy"),
        ({"link_gbps": 401}, "from 10 to 400 Gbit/s, not 401"),
        ({"link_gbps": "fast"}, "whole number from 10 to 400, not 'fast'"),
        ({"link_gbps": None}, "whole number"),
        ({"link_gbps": float("inf")}, "whole number"),
        ({"rfs": 2}, "from 0 to 1, not 2"),
        ({"reader_cpu": "moon"}, "one of same, other, not 'moon'"),
        ({"reader_cpu": 1}, "one of same, other, not 1"),
        ({"zerocopy": 1}, "refuses zerocopy: there is no zero-copy path"),
    ],
)
def test_a_mistake_is_told_with_the_nearest_name_or_the_range(given: dict[str, Any], words: str) -> None:
    with pytest.raises(KnobError) as told:
        settings(ALL, given, "lab")
    assert words in str(told.value)


def test_choices_become_numbers_of_the_spec() -> None:
    assert numbers(ALL, settings(ALL, {"reader_cpu": "other"}, "lab"))["reader_cpu"] == 1
