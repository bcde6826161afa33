"""A verified spec, run to a time, and what its arena says: for what must come out because mathematics says so."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from sim.engine import tables
from sim.engine.native import NativeEngine
from sim.program import Register
from sim.spec import Spec
from sim.verifier import verify

R0, R1, R2, R3 = (Register(k, f"r{k}") for k in range(4))
INDEX, CPU = Register(14, "index"), Register(15, "cpu")
FLAT = {"sockets": 1, "cores_per_socket": 1, "threads_per_core": 1}
US = 1_000_000
Words = npt.NDArray[np.int64]


class Run:
    """A verified spec, run to a time with the knobs given."""

    def __init__(self, spec: Spec, until: int, status: int = tables.REACHED, **knobs: int) -> None:
        verify(spec, knobs)
        self.spec, self.engine = spec, NativeEngine()
        self.arena: Words = self.engine.build(spec.image(knobs))
        assert self.engine.run_until(self.arena, until) == status

    def word(self, at: int) -> int:
        return int(self.arena[at])

    def stat(self, name: str) -> int:
        return self.word(self.word(tables.H_AT_STAT) + self.spec.stats.index(name))

    def cpu(self, number: int, word: int) -> int:
        return self.word(self.word(tables.H_AT_CPU) + tables.CPU_WORDS * number + word)

    def queue(self, row: int, word: int) -> int:
        """A word of a queue; rows count on through all sets."""
        return self.word(self.word(tables.H_AT_QUEUE) + tables.QUEUE_WORDS * row + word)

    def lock(self, row: int, word: int) -> int:
        return self.word(self.word(tables.H_AT_LOCK) + tables.LOCK_WORDS * row + word)

    def busy(self, number: int) -> int:
        """Time charged to symbols on a CPU, softirq and threads, ps."""
        symbols, at, cpus = (self.word(w) for w in (tables.H_SYMBOLS, tables.H_AT_PROFILE, tables.H_CPUS))
        rows = self.arena[at : at + 2 * cpus * symbols].reshape(2 * cpus, symbols)
        return int(rows[number].sum() + rows[cpus + number].sum())
