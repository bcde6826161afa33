"""Numbers drawn from words: the same on every machine, in Python and in a page's JavaScript.

The generator is splitmix64 (Steele, Lea and Flood, "Fast splittable pseudorandom number generators", OOPSLA 2014),
started from the 64-bit FNV-1a hash of the words. Every given of a question has a stream of its own, so that a given
added later leaves the others as they were.

>>> Draw("tcp-5.17", "ada", "mtu").between(10, 20, 5) in (10, 15, 20)
True
"""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from typing import Final, TypeVar

MASK: Final = (1 << 64) - 1
FNV_BASIS: Final = 0xCBF29CE484222325
FNV_PRIME: Final = 0x100000001B3
GAMMA: Final = 0x9E3779B97F4A7C15
T = TypeVar("T")


def hashed(*words: str) -> int:
    """64-bit FNV-1a over the UTF-8 bytes of the words (in normal form C), each ended by a zero byte."""
    value = FNV_BASIS
    for word in words:
        for byte in unicodedata.normalize("NFC", word).encode() + b"\0":
            value = (value ^ byte) * FNV_PRIME & MASK
    return value


class Draw:
    """A stream of 64-bit integers that the words determine."""

    def __init__(self, *words: str) -> None:
        self.state = hashed(*words)

    def next(self) -> int:
        """The next integer, 0 to 2**64 - 1."""
        self.state = (self.state + GAMMA) & MASK
        z = self.state
        z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9 & MASK
        z = (z ^ (z >> 27)) * 0x94D049BB133111EB & MASK
        return z ^ (z >> 31)

    def below(self, count: int) -> int:
        """An integer from 0 to count - 1; ValueError if there is none."""
        if count < 1:
            raise ValueError(f"nothing can be drawn below {count}")
        return self.next() * count >> 64

    def between(self, low: int, high: int, step: int = 1) -> int:
        """One of low, low + step, ... up to high."""
        return low + step * self.below((high - low) // step + 1)

    def pick(self, choices: Sequence[T]) -> T:
        """One of the choices."""
        return choices[self.below(len(choices))]
