"""Constants that no public source gives, as fitted by `sim.fit` on before-figures and side facts."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any, Final

FILE: Final = Path(__file__).parent / "fitted.json"


@cache
def records() -> list[dict[str, Any]]:
    """What was fitted: scenario, machine, constant, value, unit, the figures it was fitted on."""
    if not FILE.exists():
        return []
    rows: list[dict[str, Any]] = json.loads(FILE.read_text(encoding="utf-8"))
    return rows


def constants(scenario: str) -> dict[str, int]:
    """The constants that were fitted on a scenario, by name."""
    return {row["constant"]: int(row["value"]) for row in records() if row["scenario"] == scenario}


def on_machine(machine: str) -> dict[str, int]:
    """The constants that were fitted on a machine, by any of its scenarios: one set for all of them."""
    return {row["constant"]: int(row["value"]) for row in records() if row["machine"] == machine}


def knob(scenario: str, name: str, otherwise: int) -> int:
    """A fitted number that is a knob's default; `otherwise` before anything was fitted."""
    return constants(scenario).get(name, otherwise)
