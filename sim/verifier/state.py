"""What is known before an instruction: registers and locks held, and how two ways of getting there join.

Registers carry tokens: equal tokens stand for equal numbers. A lock is held on the row that a token stands
for, so an unlock by another register is known to be of the same row only if that register has the token.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from typing import NamedTuple

from .types import LEAST, MOST, Known, Range, Token, known


class Held(NamedTuple):
    """A lock that is held: its set, the row's token and where it was taken."""

    locks: int
    row: Token
    address: int


class State(NamedTuple):
    """Registers (None: not set) and locks held, in the order in which they were taken."""

    registers: tuple[Known | None, ...]
    held: tuple[Held, ...]

    def defined(self, register: int, bounds: Range, domain: int, address: int, item: int) -> State:
        """After the instruction at an address has written a register; an earlier token of its is renamed."""
        token: Token = ("set", address)
        state = self if token not in self._tokens() else self.renamed(token, self._unused(address))
        return state.written(register, known(bounds, domain, token, item))

    def written(self, register: int, content: Known | None) -> State:
        """With another content of a register."""
        return self._replace(
            registers=(*self.registers[:register], content, *self.registers[register + 1 :])
        )

    def renamed(self, old: Token, new: Token) -> State:
        """With a token replaced everywhere."""
        registers = tuple(
            content._replace(token=new) if content is not None and content.token == old else content
            for content in self.registers
        )
        return State(registers, tuple(h._replace(row=new) if h.row == old else h for h in self.held))

    def narrowed(self, register: int, bounds: Range) -> State:
        """With a smaller range of a register and of all that equal it."""
        content = self.registers[register]
        if content is None or (content.low, content.high) == bounds:
            return self
        token = content.token
        fresh = known(bounds, -1, token).token
        state = self if fresh == token else self.renamed(token, fresh)
        low, high = bounds
        registers = tuple(
            c if c is None or c.token != fresh else c._replace(low=max(c.low, low), high=min(c.high, high))
            for c in state.registers
        )
        return State(registers, state.held)

    def marked(self, register: int, item: int) -> State:
        """With another word on whose the item in a register (and in all that equal it) is."""
        content = self.registers[register]
        if content is None:
            return self
        registers = tuple(
            c._replace(item=item) if c is not None and c.token == content.token else c for c in self.registers
        )
        return State(registers, self.held)

    def _tokens(self) -> set[Token]:
        return {c.token for c in self.registers if c is not None} | {h.row for h in self.held}

    def _unused(self, address: int) -> Token:
        used, k = self._tokens(), 0
        while ("set before", address, k) in used:
            k += 1
        return ("set before", address, k)


def join(old: State, new: State, address: int, thresholds: Sequence[int] | None) -> State | None:
    """What holds on both ways to an address; None if the locks held differ.

    With thresholds a range that grows goes to the next of them, so that loops come to an end.
    """
    if [h.locks for h in old.held] != [h.locks for h in new.held]:
        return None
    tokens: dict[tuple[Token, Token], Token] = {}
    registers: list[Known | None] = []
    for register, (a, b) in enumerate(zip(old.registers, new.registers, strict=True)):
        if a is None or b is None:
            registers.append(None)
            continue
        pair = (a.token, b.token)
        if pair not in tokens:
            here = a.token[:2] == ("either", address)
            tokens[pair] = a.token if a.token == b.token and not here else ("either", address, register)
        low, high = min(a.low, b.low), max(a.high, b.high)
        if thresholds is not None:
            low = a.low if low == a.low else _below(thresholds, low)
            high = a.high if high == a.high else _above(thresholds, high)
        domain = a.domain if a.domain == b.domain else -1
        registers.append(Known(low, high, domain, tokens[pair], min(a.item, b.item)))
    held: list[Held] = []
    for position, (x, y) in enumerate(zip(old.held, new.held, strict=True)):
        pair = (x.row, y.row)
        kept = x.row == y.row and x.row[:2] != ("either", address)
        held.append(x._replace(row=tokens.get(pair, x.row if kept else ("lost", address, position))))
    return State(tuple(registers), tuple(held))


def _below(thresholds: Sequence[int], number: int) -> int:
    at = bisect_right(thresholds, number)
    return thresholds[at - 1] if at else LEAST


def _above(thresholds: Sequence[int], number: int) -> int:
    at = bisect_left(thresholds, number)
    return thresholds[at] if at < len(thresholds) else MOST
