"""How long each instruction of a program takes in a run, from the trace ring.

The engine's own profile knows symbols. A row of the trace ring names the instruction, so that the time of one can be
summed. The ring is read after every slice, each no longer than the ring, so nothing is lost however long the run.

A contended lock shows as an instruction without duration: its CPU spins until the lock is handed to it, which is when
its context goes on. That wait is added to the instruction, as the profile charges it. A context switch has no
instruction and is in the profile alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from .engine import tables as T
from .engine.jit import Array
from .engine.native import NativeEngine
from .result import Metric, measure
from .scenarios import Scenario
from .spec import Spec

#: Rows of the ring, and instructions of a slice: 4 MB.
RING_ROWS: Final = 1 << 16
#: The metric whose numerator counts the packets of a run, in every scenario.
PACKETS: Final = "mpps"


@dataclass(frozen=True)
class Timing:
    """Instructions of a window of a run, by address.

    Attributes
    ----------
    visits, time_ps
        Two rows, softirq and threads, one column an address: how often, and how long in all, waiting included.
    packets
        Packets of the window, as the scenario's ``mpps`` counts them.
    elapsed_ps
        Length of the window.
    """

    visits: NDArray[np.int64]
    time_ps: NDArray[np.int64]
    packets: float
    elapsed_ps: int

    @property
    def packet_ns(self) -> NDArray[np.float64]:
        """Time of each instruction for one packet, ns: two rows as in `time_ps`."""
        return self.time_ps / 1000 / self.packets if self.packets else np.zeros(self.time_ps.shape)

    @property
    def mpps(self) -> float:
        """Packets of the window in millions a second."""
        return 1e6 * self.packets / self.elapsed_ps

    def to_dict(self) -> dict[str, Any]:
        """For a page: JSON values."""
        return {
            "visits": self.visits.tolist(), "time_ps": self.time_ps.tolist(), "packets": self.packets,
            "elapsed_ps": self.elapsed_ps,
        }


class Tally:
    """Sums rows of a trace ring; `take` is called after each slice of at most as many instructions as it has rows."""

    def __init__(self, spec: Spec, arena: Array) -> None:
        self._locks = np.array([one.op == "LOCK" for one in spec.program.code])
        self._cpus = int(arena[T.H_CPUS])
        self._kinds = (self._cpus, self._cpus + int(arena[T.H_THREADS]))
        self._seen = int(arena[T.H_TRACE_COUNT])
        self._spinning: dict[int, tuple[int, int]] = {}  # context -> address of its lock, since when
        self.visits = np.zeros((2, len(spec.program.code)), np.int64)
        self.time_ps = np.zeros_like(self.visits)

    def take(self, arena: Array) -> None:
        """Count the rows since the last call. Raises ValueError if the ring has overwritten some of them."""
        rows = self._new(arena)
        time, took, context, pc = (rows[:, k] for k in (T.T_TIME, T.T_DURATION, T.T_CONTEXT, T.T_PC))
        kind = np.searchsorted(self._kinds, context, side="right")
        for side in (0, 1):
            mine = kind == side
            self.visits[side] += np.bincount(pc[mine], minlength=self.visits.shape[1])
            np.add.at(self.time_ps[side], pc[mine], took[mine])
        self._waits(time, took, context, pc, kind)

    def _new(self, arena: Array) -> Array:
        rows, count = int(arena[T.H_TRACE_ROWS]), int(arena[T.H_TRACE_COUNT])
        if count - self._seen > rows:
            raise ValueError(f"{count - self._seen:,} instructions in a slice, but the ring has {rows:,} rows")
        at = int(arena[T.H_AT_TRACE])
        ring = arena[at : at + rows * T.TRACE_WORDS].reshape(rows, T.TRACE_WORDS)
        new = ring[np.arange(self._seen, count) % rows]
        self._seen = count
        return new

    def _waits(self, time: Array, took: Array, context: Array, pc: Array, kind: Array) -> None:
        order = np.argsort(context, kind="stable")
        here = context[order]
        first = np.flatnonzero(np.r_[True, here[1:] != here[:-1]]) if len(here) else np.array([], np.int64)
        for at in order[first]:
            if int(context[at]) in self._spinning:
                address, since = self._spinning.pop(int(context[at]))
                self.time_ps[kind[at], address] += time[at] - since
        waits = np.flatnonzero(self._locks[pc[order]] & (took[order] == 0) & (kind[order] < 2))
        for place in waits:
            at = order[place]
            if place + 1 < len(order) and here[place + 1] == here[place]:
                self.time_ps[kind[at], pc[at]] += time[order[place + 1]] - time[at]
            else:
                self._spinning[int(context[at])] = int(pc[at]), int(time[at])


def timing(scenario: Scenario, seed: int = 1, **knobs: Any) -> Timing:
    """Run a scenario once and time its instructions, from the end of the warm-up to its first estimate.

    Raises
    ------
    KnobError
        for an unknown knob or a setting out of range.
    """
    engine = NativeEngine()
    arena = engine.build(scenario.image(seed, RING_ROWS, **knobs))
    engine.run_until(arena, scenario.warm_ps)
    engine.reset(arena)
    tally = Tally(scenario.spec, arena)
    arena[T.H_UNTIL] = scenario.quick_ps
    status = T.MORE
    while status == T.MORE:
        status = engine.run(arena, RING_ROWS)
        tally.take(arena)
    elapsed = scenario.quick_ps - scenario.warm_ps
    return Timing(tally.visits, tally.time_ps, packets(arena, scenario.spec, scenario.metrics), elapsed)


def packets(arena: Array, spec: Spec, metrics: Sequence[Metric]) -> float:
    """Packets since the warm-up, as the metric `PACKETS` counts them."""
    wanted = [m for m in metrics if m.name == PACKETS]
    elapsed = int(arena[T.H_UNTIL]) - int(arena[T.H_RESET_TIME])
    return measure(arena, spec, wanted, (), 0).metrics[PACKETS] * elapsed / wanted[0].scale
