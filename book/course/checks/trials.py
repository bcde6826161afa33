"""Trials of a student's routine: a scenario with it in, some of its threads and senders left out, run a short while.

The routine is data, it was verified before, and the engine stops after a number of instructions.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from sim.engine.tables import H_AT_SET, H_AT_VALUE
from sim.exercises.holes import Bounded, named
from sim.result import Replication
from sim.scenarios.scenario import RunError, Scenario

from .verdict import Verdict, partly, right, wrong

Outcome = tuple[float, str, str]  # share of the points, and for who loses them: what was wrong, a hint


@dataclass
class Trial:
    """A scenario that is run once, from `warm_ps` to `until_ps`; afterwards `metrics` and `cells` tell what happened.

    Attributes
    ----------
    counts
        How many threads or agents of a name there are instead.
    cells0
        Initial values of columns: (table, column) to the number in all rows.
    """

    scenario: Scenario
    warm_ps: int
    until_ps: int
    counts: Mapping[str, int]
    cells0: Mapping[tuple[str, str], int]

    def run(self, seed: int = 1, **knobs: Any) -> Trial:
        """Run it. Raises RunError."""
        s, spec = self.scenario, self.scenario.spec
        for k, spawn in enumerate(spec.spawns):
            if spawn.name in self.counts:
                spec.spawns[k] = replace(spawn, count=spec.values.value(self.counts[spawn.name]))
        for (table, column), value in self.cells0.items():
            spec.init(named(spec.tables, table), column, value)
        s.warm_ps = self.warm_ps
        done, self._arena = s.replicate(Bounded(), seed, self.until_ps, **knobs)
        self._done: Replication = done
        return self

    @property
    def metrics(self) -> Mapping[str, float]:
        """Metrics of the run by name."""
        return self._done.metrics

    def cells(self, table: str, column: str) -> list[int]:
        """A column at the end of the run."""
        declared = named(self.scenario.spec.tables, table)
        count = int(self._arena[int(self._arena[H_AT_VALUE]) + declared.domain.count.row])
        at, width = int(self._arena[int(self._arena[H_AT_SET]) + declared.number]), len(declared.columns)
        k = declared.column(column)
        return [int(self._arena[at + row * width + k]) for row in range(count)]


def summed(outcomes: Sequence[Outcome], share: float) -> Verdict:
    """Points for all that came out right; words for the first that did not. `outcomes` are those that did not."""
    if not outcomes:
        return right("Right: in all trials.")
    message, hint = outcomes[0][1:]
    more = "" if len(outcomes) == 1 else f" ({len(outcomes)} trials went wrong; this is the first.)"
    return partly(share, message + more, hint) if share > 0 else wrong(message + more, hint)


__all__ = ["Outcome", "RunError", "Trial", "summed"]
