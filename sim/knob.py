"""Knobs: the switches and sliders of a scenario, their ranges, and errors for people who mistype one."""

from __future__ import annotations

import difflib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any


class KnobError(ValueError):
    """An unknown knob or a setting out of range, in words."""


@dataclass(frozen=True)
class Knob:
    """A setting of a scenario.

    Parameters
    ----------
    name, unit, doc
        The kernel's name where it has one; ours carry their unit. What it does, in one sentence.
    default
        The setting of the thread, or the kernel's default of the time.
    low, high, step
        Range of an integer knob; a switch is 0 to 1.
    choices
        Names of a choice; the setting is one of them, the spec gets its number.
    effect, why
        ``acts``, ``inert`` (why says why it cannot change anything here) or ``refused``.
    kernel
        Where the kernel's own range or default stands, by version, if it is the kernel's knob.
    shows_with
        Settings of other knobs with which the effect shows, if it does not at the defaults.
    """

    name: str
    default: int | str
    doc: str
    low: int = 0
    high: int = 1
    step: int = 1
    unit: str = ""
    choices: tuple[str, ...] = ()
    effect: str = "acts"
    why: str = ""
    kernel: str = ""
    shows_with: tuple[tuple[str, int | str], ...] = ()

    @property
    def kind(self) -> str:
        """``switch``, ``int`` or ``choice``."""
        if self.choices:
            return "choice"
        return "switch" if (self.low, self.high) == (0, 1) else "int"

    def number(self, setting: Any) -> int:
        """A setting as the integer that the spec takes. Raises KnobError with the range or the choices."""
        if self.choices:
            if isinstance(setting, str) and setting in self.choices:
                return self.choices.index(setting)
            raise KnobError(f"{self.name} is one of {', '.join(self.choices)}, not {setting!r}")
        if isinstance(setting, bool):
            setting = int(setting)
        try:
            number = int(setting)
            exact = number == float(setting)
        except (TypeError, ValueError, OverflowError):
            wanted = f"a whole number from {self.low:,} to {self.high:,}"
            raise KnobError(f"{self.name} is {wanted}, not {setting!r}") from None
        if not exact or not self.low <= number <= self.high:
            unit = f" {self.unit}" if self.unit else ""
            raise KnobError(f"{self.name} goes from {self.low:,} to {self.high:,}{unit}, not {setting}")
        return number

    def to_dict(self) -> dict[str, Any]:
        """The knob as the page and the command line show it."""
        return {
            "name": self.name, "kind": self.kind, "default": self.default, "low": self.low, "high": self.high,
            "step": self.step, "unit": self.unit, "choices": list(self.choices), "doc": self.doc,
            "effect": self.effect, "why": self.why, "kernel": self.kernel, "shows_with": dict(self.shows_with),
        }


def settings(knobs: Sequence[Knob], given: Mapping[str, Any], scenario: str) -> dict[str, int | str]:
    """All knobs at their defaults, but for those given.

    Raises
    ------
    KnobError
        for an unknown knob (with the nearest name), a refused one (with the reason; its default may be given), or
        a setting out of range.
    """
    by_name = {k.name: k for k in knobs}
    out: dict[str, int | str] = {k.name: k.default for k in knobs}
    for name, setting in given.items():
        if name not in by_name:
            near = difflib.get_close_matches(name, by_name, 1, 0.4)
            hint = f"did you mean {near[0]}?" if near else f"there are {', '.join(by_name)}"
            raise KnobError(f"{scenario} has no knob {name!r}; {hint}")
        knob = by_name[name]
        if knob.effect == "refused" and setting != knob.default:
            raise KnobError(f"{scenario} refuses {name}: {knob.why}")
        number = knob.number(setting)
        out[name] = knob.choices[number] if knob.choices else number
    return out


def numbers(knobs: Sequence[Knob], chosen: Mapping[str, int | str]) -> dict[str, int]:
    """Settings as the integers of a spec image."""
    return {k.name: k.number(chosen[k.name]) for k in knobs}
