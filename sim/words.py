"""Words of the command line that set knobs: ``--mtu 1500``, ``--mtu=1500``, and ``mtu=1500,4168`` for a sweep."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .knob import Knob
from .scenarios import Scenario


class Mistake(ValueError):
    """What is wrong with the command line, in words."""


def knobs(scenario: Scenario, words: Sequence[str]) -> dict[str, Any]:
    """Settings from ``--knob value`` and ``--knob=value``; a dash in a name may stand for an underscore.

    Raises
    ------
    KnobError, Mistake
        with the nearest name or the range.
    """
    given: dict[str, str] = {}
    left = list(words)
    while left:
        word = left.pop(0)
        if not word.startswith("--") or word == "--":
            raise Mistake(f"{word!r} is neither a knob nor an option; knobs are set by --knob value")
        name, equals, value = word[2:].partition("=")
        name = name.replace("-", "_")
        if not equals:
            knob = scenario.knob(name)  # a mistyped knob is told before a lost value
            if not left or left[0].startswith("--"):
                raise Mistake(f"--{name} needs a value: {allowed(knob)}")
            value = left.pop(0)
        if name in given:
            raise Mistake(f"--{name} is set twice")
        given[name] = value
    chosen = scenario.settings(**given)
    return {name: chosen[name] for name in given}


def over(scenario: Scenario, words: Sequence[str]) -> dict[str, list[int | str]]:
    """Values of the swept knobs, from ``KNOB=A,B,C``.

    Raises
    ------
    KnobError, Mistake
        with the nearest name, the range, or the form.
    """
    found: dict[str, list[int | str]] = {}
    for word in words:
        name, equals, values = word.partition("=")
        name = name.removeprefix("--").replace("-", "_")
        if not equals or not values:
            raise Mistake(f"--over {word} does not have the form KNOB=A,B,C")
        if name in found:
            raise Mistake(f"{name} is swept twice")
        found[name] = [scenario.settings(**{name: value.strip()})[name] for value in values.split(",")]
    return found


def allowed(knob: Knob) -> str:
    """The range or the choices of a knob."""
    if knob.choices:
        return ", ".join(knob.choices)
    return f"{knob.low:,} to {knob.high:,} {knob.unit}".rstrip()
