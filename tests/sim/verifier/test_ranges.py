"""Arithmetic on ranges holds what arithmetic on numbers gives, for every function and condition."""

from __future__ import annotations

import numpy as np
import pytest

from sim.engine import opcodes as O
from sim.engine.arithmetic import alu, holds
from sim.verifier.types import LEAST, MOST, Overflow, arithmetic, refined

SIZES = (3, 20, 1 << 12, 1 << 40, 1 << 62)


def ranges(seed: int, count: int) -> list[tuple[tuple[int, int], tuple[int, int], list[tuple[int, int]]]]:
    """Two ranges and numbers in them, ends included."""
    rng = np.random.default_rng(seed)
    out = []
    for _ in range(count):
        ends = [sorted(int(x) for x in rng.integers(-n, n, 2)) for n in rng.choice(SIZES, 2)]
        a, b = ((low, high) for low, high in ends)
        numbers = [
            (int(rng.integers(a[0], a[1] + 1)), int(rng.integers(b[0], b[1] + 1))) for _ in range(6)
        ]
        out.append((a, b, [*numbers, *((x, y) for x in a for y in b)]))
    return out


@pytest.mark.parametrize("fn", range(len(O.ALU_FUNCTIONS)), ids=O.ALU_FUNCTIONS)
def test_results_lie_in_the_range(fn: int) -> None:
    judged = 0
    for a, b, numbers in ranges(fn, 400):
        if fn in (O.SHIFT_LEFT, O.SHIFT_RIGHT):
            b = (abs(b[0]) % 20, abs(b[0]) % 20 + abs(b[1]) % 20)
            numbers = [(x, b[0] + y % (b[1] - b[0] + 1)) for x, y in numbers]
        try:
            low, high = arithmetic(fn, a, b)
        except (Overflow, ZeroDivisionError):
            continue
        judged += 1
        for x, y in numbers:
            result = int(alu(fn, x, y))
            assert low <= result <= high, (a, b, x, y)
    assert judged > 100


@pytest.mark.parametrize("cond", range(len(O.CONDITIONS)), ids=O.CONDITIONS)
def test_refined_ranges_hold_what_remains(cond: int) -> None:
    for a, b, numbers in ranges(100 + cond, 300):
        narrow = refined(cond, a, b)
        for x, y in numbers:
            if holds(cond, x, y):
                assert narrow is not None
                assert narrow[0][0] <= x <= narrow[0][1]
                assert narrow[1][0] <= y <= narrow[1][1]


def test_sums_without_bounds_wrap() -> None:
    assert arithmetic(O.PLUS, (LEAST, MOST), (1, 1)) == (LEAST, MOST)
    assert arithmetic(O.MINUS, (0, MOST), (-1, 0)) == (LEAST, MOST)
    with pytest.raises(Overflow):
        arithmetic(O.OVER, (LEAST, 0), (-1, -1))
