"""The native host: Numba's machine code on this computer's CPU (or plain Python with NUMBA_DISABLE_JIT=1)."""

from __future__ import annotations

import numpy as np

from . import entry
from .jit import Array
from .tables import H_UNTIL, MORE

SLICE_STEPS = 2_000_000  # between two slices an interrupt (Ctrl-C) is noticed: about a tenth of a second


class NativeEngine:
    """Builds and runs arenas in this process.

    The same three methods are offered by `sim.wasm.host.WasmEngine`, with the same results.
    """

    name = "native"

    def build(self, spec: Array) -> Array:
        """Make the arena of a spec image (int64, one dimension), at time 0."""
        arena = np.zeros(1 << 16, np.int64)
        words = int(entry(arena, spec, 0))
        while words > arena.shape[0]:
            arena = np.zeros(words, np.int64)
            words = int(entry(arena, spec, 0))
        return arena[:words].copy()

    def run(self, arena: Array, steps: int) -> int:
        """Execute at most `steps` instructions (> 0) up to the header's ``until``; return the status."""
        return int(entry(arena, _NO_SPEC, steps))

    def run_until(self, arena: Array, time_ps: int) -> int:
        """Execute up to a time, in slices; return the status."""
        arena[H_UNTIL] = time_ps
        status = MORE
        while status == MORE:
            status = self.run(arena, SLICE_STEPS)
        return status

    def reset(self, arena: Array) -> None:
        """Forget the statistics so far: the end of the warm-up."""
        entry(arena, _NO_SPEC, -1)


_NO_SPEC = np.zeros(1, np.int64)
