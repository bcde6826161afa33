"""What the verifier knows of a register: a range, the domain it refers to, which registers equal it.

A reference is a range with a domain: ``-1 to count - 1`` if it may be none, ``0 to count - 1`` if not. So a
branch against -1, 0 or another number refines references and numbers alike.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from ..engine import opcodes as O

LEAST: Final = -(1 << 63)
MOST: Final = (1 << 63) - 1
Token = tuple[object, ...]  # equal tokens in one state stand for equal numbers

OWNED, SEEN, GIVEN = range(3)


class Known(NamedTuple):
    """What is known of a register's number. `domain` is -1 for a plain number; `item`: whose the item is."""

    low: int
    high: int
    domain: int
    token: Token
    item: int = OWNED

    def within(self, low: int, high: int) -> bool:
        """Whether every number it may be lies in low..high."""
        return low <= self.low and self.high <= high

    def text(self) -> str:
        """In words."""
        if self.low == self.high:
            return str(self.low)
        if (self.low, self.high) == (LEAST, MOST):
            return "any number"
        return f"{self.low} to {self.high}"


class Overflow(Exception):
    """Arithmetic whose result may not fit in 64 bits."""


Range = tuple[int, int]


def constant(number: int) -> Known:
    """A number that is known."""
    return Known(number, number, -1, ("number", number))


def known(bounds: Range, domain: int, token: Token, item: int = OWNED) -> Known:
    """A register's content; one possible number makes it a constant."""
    low, high = bounds
    return Known(low, high, domain, ("number", low) if low == high else token, item)


def arithmetic(fn: int, a: Range, b: Range) -> Range:
    """The range of ``a fn b``; sums and differences of numbers without bounds may be any number (they wrap).

    Raises `Overflow` if a product or a shift may not fit; ZeroDivisionError if a divisor may be 0; ValueError
    if a shift may be by less than 0 or more than 62 bits.
    """
    if fn == O.PLUS:
        return _fit(a[0] + b[0], a[1] + b[1])
    if fn == O.MINUS:
        return _fit(a[0] - b[1], a[1] - b[0])
    if fn == O.TIMES:
        return _strict([x * y for x in a for y in b])
    if fn in (O.OVER, O.MODULO):
        if b[0] <= 0 <= b[1]:
            raise ZeroDivisionError
        if fn == O.OVER:
            return _strict([x // y for x in a for y in b])
        if b[0] > 0:
            return a if a[0] >= 0 and a[1] < b[0] else (0, b[1] - 1)
        return b[0] + 1, 0
    if fn == O.MINIMUM:
        return min(a[0], b[0]), min(a[1], b[1])
    if fn == O.MAXIMUM:
        return max(a[0], b[0]), max(a[1], b[1])
    if fn in (O.SHIFT_LEFT, O.SHIFT_RIGHT):
        if b[0] < 0 or b[1] > 62:
            raise ValueError
        if fn == O.SHIFT_LEFT:
            return _strict([x << y for x in a for y in b])
        return _strict([x >> y for x in a for y in b])
    return _bitwise(fn, a, b)


def _bitwise(fn: int, a: Range, b: Range) -> Range:
    if fn == O.BITAND and (a[0] >= 0 or b[0] >= 0):
        return 0, min(high for low, high in (a, b) if low >= 0)
    bits = max(abs(x + (x < 0)).bit_length() for x in (*a, *b))
    return (0 if a[0] >= 0 and b[0] >= 0 else -(1 << bits)), (1 << bits) - 1


def _fit(low: int, high: int) -> Range:
    return (low, high) if low >= LEAST and high <= MOST else (LEAST, MOST)


def _strict(corners: list[int]) -> Range:
    if min(corners) < LEAST or max(corners) > MOST:
        raise Overflow
    return min(corners), max(corners)


def refined(cond: int, a: Range, b: Range) -> tuple[Range, Range] | None:
    """The ranges of a and b where ``a cond b`` holds, or None if it cannot hold."""
    if cond in (O.GT, O.GE):
        turned = refined(O.LT if cond == O.GT else O.LE, b, a)
        return None if turned is None else (turned[1], turned[0])
    if cond == O.EQ:
        both = (max(a[0], b[0]), min(a[1], b[1]))
        return _possible(both, both)
    if cond == O.NE:
        return _possible(_without(a, b), _without(b, a))
    gap = 1 if cond == O.LT else 0
    return _possible((a[0], min(a[1], b[1] - gap)), (max(b[0], a[0] + gap), b[1]))


def _without(a: Range, b: Range) -> Range:
    if b[0] != b[1]:
        return a
    return a[0] + (a[0] == b[0]), a[1] - (a[1] == b[0])


def _possible(a: Range, b: Range) -> tuple[Range, Range] | None:
    return (a, b) if a[0] <= a[1] and b[0] <= b[1] else None


OPPOSITE: Final = (O.NE, O.EQ, O.GE, O.GT, O.LE, O.LT)  # of the condition with that number
