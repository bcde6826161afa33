"""Path programs with a fault put in, for the exercises that ask where it is."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from book.figures.program import excerpt
from sim.scenarios.scenario import RunError, Scenario

#: What stands where an instruction was taken out: it takes no time and does nothing.
NOTHING: Final[Mapping[str, Any]] = {"op": "WORK", "operands": (0, None, 0, 0), "words": ("0", "0", "0")}


def addresses(scenario: Scenario, first: str, end: str, op: str, *words: str) -> list[int]:
    """Where between two labels an instruction stands whose words begin so. Raises ValueError if nowhere."""
    program = scenario.spec.program
    found = [
        at for at in range(program.address(first), program.address(end))
        if program.code[at].op == op and tuple(program.code[at].words[: len(words)]) == words
    ]
    if not found:
        raise ValueError(f"{scenario.name}: no {op} {' '.join(words)} between {first} and {end}")
    return found


def without(scenario: Scenario, first: str, end: str, op: str, *words: str) -> Scenario:
    """The scenario with every such instruction taken out. It is no longer known to be sound, so runs verify it."""
    program = scenario.spec.program
    for at in addresses(scenario, first, end, op, *words):
        program = program.replaced(at, **NOTHING)
    scenario.spec.program = program
    scenario.verified = False
    return scenario


def changed(scenario: Scenario, at: int, **parts: Any) -> Scenario:
    """The scenario with parts of one instruction changed."""
    scenario.spec.program = scenario.spec.program.replaced(at, **parts)
    scenario.verified = False
    return scenario


def listing(scenario: Scenario, first: str, end: str, **knobs: Any) -> str:
    """A part of a program; what was taken out of it leaves no trace."""
    lines = excerpt(scenario.listing(**knobs), first, end).splitlines()
    return "\n".join(line for line in lines if line.split()[:4] != ["WORK", "0", "0", "0"])


def ending(scenario: Scenario, metric: str, **knobs: Any) -> str:
    """How a short run ends, in words: the metric (without its unit if that is 1/s), or what stopped it and when."""
    try:
        found = scenario.run(replications=2, until_ps=scenario.quick_ps, **knobs).metrics[metric]
    except RunError as error:
        return str(error).partition(" at ")[0].partition(": ")[2] + f" after {_when(error)}"
    return f"{found.mean:,.0f}" if found.unit == "1/s" else f"{found.mean:,.3g} {found.unit}"


def _when(error: RunError) -> str:
    return f"{float(str(error).partition(' at ')[2].partition(' us')[0].replace(',', '')):,.0f} µs"
