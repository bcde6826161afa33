"""Constants that no public source gives, as fitted by `sim.fit` on before-figures and side facts."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any, Final

FILE: Final = Path(__file__).parent / "fitted.json"


@cache
def records() -> list[dict[str, Any]]:
    """What was fitted: scenario, constant, value, unit, the figures it was fitted on."""
    if not FILE.exists():
        return []
    rows: list[dict[str, Any]] = json.loads(FILE.read_text(encoding="utf-8"))
    return rows


def constants(scenario: str) -> dict[str, int]:
    """The fitted constants that a scenario's machine takes, by name."""
    return {row["constant"]: int(row["value"]) for row in records() if row["scenario"] == scenario}


def knob(scenario: str, name: str, otherwise: int) -> int:
    """A fitted number that is a knob's default; `otherwise` before anything was fitted."""
    return constants(scenario).get(name, otherwise)
