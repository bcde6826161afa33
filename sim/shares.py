"""Shares of a CPU's busy time by symbol, of one CPU or of all, with intervals, and what they change by.

A profile of the whole system counts each CPU with the time that it was busy; a thread that quotes `perf` without a CPU
means that one. A group of symbols is summed in each replication, so that its interval is that of the sum.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from .result import Estimate, Replication, Result, interval

#: The role that stands for all CPUs of a result.
ALL: Final = "*"
_STEP: Final = 1e-9  # least half-width: an interval is never zero wide


def of(replication: Replication, role: str) -> dict[str, float]:
    """Percent of the busy time of a role's CPU, or of all CPUs, by symbol. KeyError names the roles."""
    if role != ALL:
        if role not in replication.profile:
            raise KeyError(f"no role {role!r}; there are {', '.join(replication.profile)} and {ALL} for all CPUs")
        return dict(replication.profile[role])
    busy = sum(replication.cpu.values()) or 1.0
    out: dict[str, float] = {}
    for name, share in replication.cpu.items():
        for symbol, part in replication.profile[name].items():
            out[symbol] = out.get(symbol, 0.0) + share / busy * part
    return out


def estimates(result: Result, role: str, groups: Iterable[Sequence[str]] = ()) -> dict[str, Estimate]:
    """Mean and 95 % interval by symbol, and by group under its symbols joined by ``+``."""
    tables = [of(r, role) for r in result.replications]
    return {
        "+".join(group): Estimate(*interval([_sum(table, group) for table in tables], _STEP), "%")
        for group in (*_singles(tables), *groups)
    }


def differences(
    before: Result, after: Result, role: str, groups: Iterable[Sequence[str]] = ()
) -> dict[str, Estimate] | None:
    """What each share changes by, in points; None unless both results ran the same seeds, which are paired."""
    if [r.seed for r in before.replications] != [r.seed for r in after.replications]:
        return None
    old, new = ([of(r, role) for r in result.replications] for result in (before, after))
    return {
        "+".join(group): Estimate(
            *interval([_sum(b, group) - _sum(a, group) for a, b in zip(old, new, strict=True)], _STEP), "%"
        )
        for group in (*_singles([*old, *new]), *groups)
    }


def _singles(tables: Iterable[dict[str, float]]) -> list[tuple[str]]:
    return [(symbol,) for symbol in sorted({s for table in tables for s in table})]


def _sum(table: dict[str, float], group: Sequence[str]) -> float:
    return sum(table.get(symbol, 0.0) for symbol in group)
