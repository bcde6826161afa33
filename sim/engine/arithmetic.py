"""Register arithmetic, conditions and random draws: integers, and floats by + - * / only, equal on every host."""

from __future__ import annotations

from . import opcodes as O
from .jit import kernel


@kernel
def random_step(state: int) -> int:
    """The next state of a 32-bit xorshift generator kept in an int64."""
    state ^= (state << 13) & 0xFFFFFFFF
    state ^= state >> 17
    state ^= (state << 5) & 0xFFFFFFFF
    return state


@kernel
def random_seed(seed: int, stream: int) -> int:
    """A non-zero generator state for one stream of one replication."""
    x = (seed * 2654435761 + stream * 40503 + 2463534242) & 0xFFFFFFFF
    if x == 0:
        x = 88172645
    for _ in range(8):
        x = random_step(x)
    return x


@kernel
def draw(kind: int, state: int, n: int) -> int:
    """A number from a generator state: uniform in 0..n-1, or exponential with mean n (rounded down)."""
    if kind == O.UNIFORM:
        return (state * n) >> 32
    return int(-logarithm(((state >> 1) + 1) * (1.0 / 2147483649.0)) * n)


@kernel
def logarithm(x: float) -> float:
    """Natural logarithm of 0 < x <= 1 from + - * / only: libraries differ in the last bit between hosts."""
    exponent = 0
    while x < 0.70710678118654752:
        x *= 2.0
        exponent -= 1
    z = (x - 1.0) / (x + 1.0)
    square = z * z
    total = 0.0
    k = 21
    while k > 0:
        total = total * square + 1.0 / k
        k -= 2
    return 2.0 * z * total + exponent * 0.6931471805599453


@kernel
def alu(fn: int, a: int, b: int) -> int:
    """Register arithmetic. Division floors; a zero divisor gives 0 (the verifier refuses it)."""
    if fn == O.PLUS:
        return a + b
    if fn == O.MINUS:
        return a - b
    if fn == O.TIMES:
        return a * b
    if fn == O.OVER:
        return a // b if b != 0 else 0
    if fn == O.MODULO:
        return a % b if b != 0 else 0
    if fn == O.MINIMUM:
        return min(a, b)
    if fn == O.MAXIMUM:
        return max(a, b)
    if fn == O.BITAND:
        return a & b
    if fn == O.BITOR:
        return a | b
    if fn == O.BITXOR:
        return a ^ b
    if fn == O.SHIFT_LEFT:
        return a << b
    return a >> b


@kernel
def holds(cond: int, a: int, b: int) -> bool:
    """Whether a condition holds between two numbers."""
    if cond == O.EQ:
        return a == b
    if cond == O.NE:
        return a != b
    if cond == O.LT:
        return a < b
    if cond == O.LE:
        return a <= b
    if cond == O.GT:
        return a > b
    return a >= b
