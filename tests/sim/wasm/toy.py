"""A small kernel with the engine's signature: everything of the language that the engine may use.

The spec is ``[words, n, m, seed, until]``; the arena is a header of eight words and then cells. One step
picks a cell by a generator, mixes it by arithmetic that rounds, shifts, divides and wraps, and moves the
time on.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from numba import njit

Words = npt.NDArray[np.int64]

OPTIONS = {"error_model": "numpy", "boundscheck": False, "_nrt": False, "fastmath": False}
HEADER = 8
AT_NOW, AT_UNTIL, AT_RANDOM, AT_CELLS, AT_STATISTIC, AT_STEPS = range(6)
TABLE = np.array([3, 1, 4, 1, 5, 9, 2, 6], np.int64)


@njit(**OPTIONS)
def draw(arena: Words) -> int:
    x = arena[AT_RANDOM]
    x ^= (x << 13) & 0xFFFFFFFF
    x ^= x >> 17
    x ^= (x << 5) & 0xFFFFFFFF
    arena[AT_RANDOM] = x
    return x


@njit(**OPTIONS)
def entry(arena: Words, spec: Words, steps: int) -> int:
    if steps == 0:
        if len(arena) < spec[0]:
            return spec[0]
        arena[:] = 0
        arena[AT_UNTIL] = spec[4]
        arena[AT_RANDOM] = spec[3]
        arena[AT_CELLS] = spec[0] - HEADER
        for i in range(HEADER, spec[0]):
            arena[i] = spec[1] * i - spec[2]
        return spec[0]
    if steps < 0:
        if steps < -1:
            raise ValueError("steps")
        arena[AT_STATISTIC] = 0
        return 0
    for _ in range(steps):
        if arena[AT_NOW] >= arena[AT_UNTIL]:
            return 1
        r = draw(arena)
        i = HEADER + r % arena[AT_CELLS]
        x = arena[i]
        kind = r % 6
        if kind == 0:
            x = x // (r % 7 - 3)
        elif kind == 1:
            x = x * 6364136223846793005 + 1442695040888963407
        elif kind == 2:
            x = x % -(r % 9 + 1)
        elif kind == 3:
            x = int(np.floor(np.sqrt(abs(x) % 1000003) * 1.5) + (x % 1000) * 0.1)
        elif kind == 4:
            x = (x << (r & 15)) ^ (x >> 3)
        else:
            x += int(float(x % 100000) % 7.25) + TABLE[r & 7]
        arena[i] = x
        arena[AT_NOW] += 1 + (x & 15)
        arena[AT_STATISTIC] += x & 0xFF
        arena[AT_STEPS] += 1
    return 0


@njit(**OPTIONS)
def astray(arena: Words, spec: Words, steps: int) -> int:
    """Looks where it is told to: at a cell, or beside the arena."""
    if steps == 0:
        return spec[0]
    arena[:] = 7
    return arena[steps]


@njit(**OPTIONS)
def impure(arena: Words, spec: Words, steps: int) -> int:
    """Calls a function that differs between hosts: refused."""
    arena[0] = int(np.log(float(steps)) + np.sin(float(spec[0])))
    return arena[0]
