"""The engine: one Numba source, run natively, as WebAssembly in a page, and as plain Python with the JIT off.

`entry` is the only function that a host calls.
"""

from __future__ import annotations

from .build import build
from .jit import Array, kernel
from .run import reset_statistics, run
from .tables import H_STATUS

__all__ = ["Array", "build", "entry", "reset_statistics", "run"]


@kernel
def entry(arena: Array, spec: Array, steps: int) -> int:
    """Build (`steps` 0: returns the words needed), run (> 0: returns a status) or reset statistics (-1)."""
    if steps == 0:
        return build(arena, spec)
    if steps < 0:
        reset_statistics(arena)
        return arena[H_STATUS]
    return run(arena, steps)
