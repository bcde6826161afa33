"""Queue lengths over time: a run looked at in equal steps, over several replications."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from .engine import tables as T
from .engine.jit import Array
from .engine.native import NativeEngine
from .engine.tables import REACHED
from .result import Estimate, interval, queue_rows
from .scenarios.scenario import Engine, RunError, Scenario


@dataclass(frozen=True)
class Series:
    """Length of each queue at each time (ps since the run began), with its interval over replications."""

    times_ps: tuple[int, ...]
    lengths: dict[str, tuple[Estimate, ...]]

    def to_dict(self) -> dict[str, Any]:
        """As JSON: times in ps, and for each queue mean, low and high."""
        return {
            "times_ps": list(self.times_ps),
            "lengths": {name: [e.to_dict() for e in row] for name, row in self.lengths.items()},
        }


def queue_lengths(
    scenario: Scenario, queues: Sequence[str], *, every_ps: int, until_ps: int | None = None, seed: int = 1,
    replications: int = 5, engine: Engine | None = None, **knobs: Any,
) -> Series:
    """Run from time 0 and note the lengths of queues at every multiple of `every_ps`.

    Raises ValueError for a queue that the scenario has not, with the names it has, and RunError if a run ends early.
    """
    names = [q.name for q in scenario.spec.queues]
    for name in queues:
        if name not in names:
            raise ValueError(f"{scenario.name} has no queue {name!r}; it has {', '.join(dict.fromkeys(names))}")
    if every_ps < 1:
        raise ValueError("the time between two looks is at least 1 ps")
    host: Engine = engine if engine is not None else NativeEngine()
    times = tuple(range(every_ps, (until_ps or scenario.until_ps) + 1, every_ps))
    seen: dict[str, list[list[int]]] = {name: [[] for _ in times] for name in queues}
    for s in range(seed, seed + replications):
        arena = host.build(scenario.image(s, **knobs))
        for k, time_ps in enumerate(times):
            if host.run_until(arena, time_ps) != REACHED:
                raise RunError(f"{scenario.name} ended at {int(arena[T.H_NOW])} ps")
            for name in queues:
                seen[name][k].append(_length(arena, scenario, name))
    return Series(
        times, {n: tuple(Estimate(*interval(v, 1.0), "items") for v in rows) for n, rows in seen.items()}
    )


def _length(arena: Array, scenario: Scenario, name: str) -> int:
    return sum(int(arena[at + T.Q_LENGTH]) for at in queue_rows(arena, scenario.spec, name))
