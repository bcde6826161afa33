"""What an experiment showed, as tables for people."""

from __future__ import annotations

from typing import Final

from .. import display
from ..layers import LAYERS, OTHER
from . import record
from .experiment import SIDES, Estimate, Experiment, Outcome
from .read.profile import USER
from .reading import UNITS

SYMBOLS: Final = 12  # rows of a profile that are shown; all are in the file


def show(chosen: Experiment, outcome: Outcome) -> None:
    """The arms side by side, each number with its interval, and the change in what was asked."""
    arms = list(outcome.readings)
    print(chosen.question)
    rows = []
    for name in outcome.names():
        row = [name, UNITS[name]]
        for arm in arms:
            found = outcome.estimate(arm, name)
            row += [display.number(found.mean), display.span(found.low, found.high)]
        rows.append(row)
    columns = ["", "unit", *(c for arm in arms for c in (arm, "95 % interval"))]
    display.table("", columns, rows, arms)
    _sizes(outcome, arms)
    _profiles(outcome, arms)
    if outcome.clock in record.OWN_CLOCKS:
        print(record.SKID.format(clock=outcome.clock))
    print()
    for arm in arms[1:]:
        change = outcome.change(arm, chosen.answers)
        if change is None:
            print(f"{chosen.answers}: {arm} against {arms[0]}: no change can be stated, {arms[0]} showed 0")
        else:
            print(
                f"{chosen.answers}: {arm} against {arms[0]}: {change.mean:+.1f} % "
                f"({change.low:+.1f} to {change.high:+.1f}, round by round)"
            )
    print(chosen.expect)


def _sizes(outcome: Outcome, arms: list[str]) -> None:
    found = {arm: outcome.sizes(arm) for arm in arms}
    bounds = sorted({bound for sizes in found.values() for bound in sizes})
    if bounds:
        rows = [[f"{bound:,}", *(display.number(found[arm].get(bound, 0.0)) for arm in arms)] for bound in bounds]
        print()
        display.table("Packets after GRO by size, % of a sample", ["up to bytes", *arms], rows, ["up to bytes", *arms])


def _profiles(outcome: Outcome, arms: list[str]) -> None:
    for side in SIDES:
        layers = {arm: outcome.layers(arm, side) for arm in arms}
        _shares(f"The {side}'s CPU by layers", arms, layers, [*LAYERS, OTHER, USER])
        symbols = {arm: outcome.profile(arm, side) for arm in arms}
        largest = {
            name: max(table[name].mean for table in symbols.values() if name in table)
            for table in symbols.values() for name in table
        }
        names = sorted(largest, key=lambda name: (-largest[name], name))
        _shares(f"The {side}'s CPU by symbols", arms, symbols, names[:SYMBOLS])


def _shares(title: str, arms: list[str], tables: dict[str, dict[str, Estimate]], names: list[str]) -> None:
    """A row for each of the names that a table has, an arm beside the other."""
    rows = []
    for name in names:
        if not any(name in table for table in tables.values()):
            continue
        row = [name]
        for arm in arms:
            one = tables[arm].get(name)
            row += [display.number(one.mean), display.span(one.low, one.high)] if one else ["-", "-"]
        rows.append(row)
    if rows:
        print()
        columns = ["", *(c for arm in arms for c in (arm, "95 % interval"))]
        display.table(f"{title}, % of its busy time", columns, rows, arms)
