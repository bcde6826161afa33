"""Dice: one stream of random numbers for each context, the same on every machine."""

from __future__ import annotations

BITS32 = 0xFFFFFFFF
LN2 = 0.6931471805599453
ROOT_HALF = 0.70710678118654752


class Dice:
    """Marsaglia's 32-bit xorshift generator (13, 17, 5), seeded by a run's seed and a stream number."""

    __slots__ = ("state",)

    def __init__(self, seed: int, stream: int) -> None:
        # Knuth's multiplicative constant spreads seeds; a generator of zeros would stay at zero.
        self.state = (seed * 2654435761 + stream * 40503 + 2463534242) & BITS32 or 88172645
        for _ in range(8):
            self.roll()

    def roll(self) -> int:
        """The next state, 1 to 2**32 - 1."""
        x = self.state
        x ^= (x << 13) & BITS32
        x ^= x >> 17
        x ^= (x << 5) & BITS32
        self.state = x
        return x

    def uniform(self, n: int) -> int:
        """A number from 0 to n - 1."""
        return (self.roll() * n) >> 32

    def exponential(self, mean: int) -> int:
        """A number of exponential distribution, rounded down."""
        u = ((self.roll() >> 1) + 1) * (1.0 / 2147483649.0)
        return int(-logarithm(u) * mean)


def logarithm(x: float) -> float:
    """Natural logarithm of 0 < x <= 1 by the series of the area tangent.

    Written with the four basic operations in a fixed order, whose results IEEE 754 fixes to the last bit;
    the C library's ``log`` differs between systems.
    """
    halvings = 0
    while x < ROOT_HALF:
        x *= 2.0
        halvings -= 1
    z = (x - 1.0) / (x + 1.0)
    square = z * z
    series = 0.0
    for k in range(21, 0, -2):
        series = series * square + 1.0 / k
    return 2.0 * z * series + halvings * LN2
