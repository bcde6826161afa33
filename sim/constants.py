"""The constants that a scenario's results rest on, and the scenario with some of them changed.

A constant is a number of the machine, of `sim.path.costs`, or a knob that stands for a time which no source gives
(its unit is ns or us). Which ones a scenario reads is not declared anywhere: it is what its composition asked for.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any, Final

from . import fitted
from .engine.tables import MACHINE_FIELDS
from .machine import COSTS as MACHINE_COSTS
from .machine import Machine, file_schema
from .path.costs import COSTS
from .scenarios import Scenario

KNOB_UNITS: Final = ("ns", "us")


@dataclass(frozen=True)
class Constant:
    """A number that can be changed: `kind` is ``machine``, ``path`` or ``knob``; `status` says what it rests on."""

    name: str
    kind: str
    value: int
    unit: str
    status: str


@cache
def _range(name: str) -> tuple[int, int]:
    rule: dict[str, Any] = file_schema()["properties"]["costs"]["properties"][name]["properties"]["value"]
    return int(rule["minimum"]), int(rule["maximum"])


def _status(scenario: Scenario, name: str) -> str:
    if name in scenario.fitted:
        return "fitted"
    if name in COSTS:
        return "assumed" if COSTS[name].source.startswith(("assumed", "chosen")) else "sourced"
    return scenario.machine.constant(name).status


def read(scenario: Scenario) -> list[Constant]:
    """The constants that a scenario reads, but those that are 0: of nothing there is no quarter."""
    asked = scenario.spec.constants
    found = [
        Constant(n, "machine", scenario.machine.cost(n), scenario.machine.constant(n).unit, _status(scenario, n))
        for n in MACHINE_COSTS if n in MACHINE_FIELDS or n in asked
    ]
    found = [Constant(c.name, c.kind, asked.get(c.name, c.value), c.unit, c.status) for c in found]
    found += [
        Constant(n, "path", value, COSTS[n].unit, _status(scenario, n)) for n, value in asked.items() if n in COSTS
    ]
    given = fitted.constants(scenario.name)  # a knob belongs to its scenario, whatever the machine
    found += [
        Constant(
            k.name, "knob", int(k.default), k.unit,
            "fitted" if {k.name, k.name.replace("_ns", "_ps")} & given.keys() else "assumed",
        )
        for k in scenario.knobs if k.unit in KNOB_UNITS and k.kind == "int" and k.effect == "acts"
    ]
    return [c for c in found if c.value]


def changed(
    scenario: Scenario, factors: Mapping[str, float]
) -> tuple[Scenario, dict[str, int], dict[str, int]]:
    """A scenario with constants multiplied, the knobs to run it with, and the values that came out.

    Values are whole numbers inside the range that the machine's schema or the knob allows, so a small one may move by
    another factor than was asked for. Raises KeyError for a constant that the scenario does not read.
    """
    known = {c.name: c for c in read(scenario)}
    machine: Machine = scenario.machine
    costs, knobs, values = dict(scenario.changes), {}, {}
    for name, factor in factors.items():
        constant = known[name]
        value = round(constant.value * factor)
        if constant.kind == "knob":
            knob = scenario.knob(name)
            value = knobs[name] = min(max(value, knob.low), knob.high)
        elif constant.kind == "path":
            costs[name] = value
        else:
            low, high = _range(name)
            value = min(max(value, low), high)
            machine = machine.with_(**{name: value})
            if name in costs or name in scenario.fitted:
                costs[name] = value  # what was fitted for this scenario stands above the machine's
        values[name] = value
    return type(scenario)(machine, costs), knobs, values
