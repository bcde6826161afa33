"""Arithmetic on knobs, written in Python and evaluated by `build`.

A page changes a knob and builds a new arena without Python; so what depends on a knob is not a number but
an expression, kept as a row of the spec's values table. Rows refer to earlier rows only.

>>> from sim.expression import Values
>>> values = Values(["mtu"])
>>> payload = values.knob("mtu") - 72
>>> values.evaluate([1500])[payload.row]
1428
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Union

from .engine import tables as T

Number = Union[int, "Value"]


@dataclass(frozen=True)
class Value:
    """A row of a values table. Arithmetic with integers and other values makes new rows; division floors."""

    table: Values
    row: int

    def __add__(self, other: Number) -> Value:
        return self.table.apply(T.V_ADD, self, other)

    def __sub__(self, other: Number) -> Value:
        return self.table.apply(T.V_SUB, self, other)

    def __mul__(self, other: Number) -> Value:
        return self.table.apply(T.V_MUL, self, other)

    def __floordiv__(self, other: Number) -> Value:
        return self.table.apply(T.V_DIV, self, other)

    def __mod__(self, other: Number) -> Value:
        return self.table.apply(T.V_MOD, self, other)

    def __radd__(self, other: int) -> Value:
        return self.table.apply(T.V_ADD, other, self)

    def __rsub__(self, other: int) -> Value:
        return self.table.apply(T.V_SUB, other, self)

    def __rmul__(self, other: int) -> Value:
        return self.table.apply(T.V_MUL, other, self)

    def __rfloordiv__(self, other: int) -> Value:
        return self.table.apply(T.V_DIV, other, self)

    def is_(self, other: Number) -> Value:
        """1 if equal, else 0."""
        return self.table.apply(T.V_EQ, self, other)

    def below(self, other: Number) -> Value:
        """1 if less, else 0."""
        return self.table.apply(T.V_LT, self, other)

    def above(self, other: Number) -> Value:
        """1 if greater, else 0."""
        return self.table.apply(T.V_LT, other, self)

    def least(self, other: Number) -> Value:
        """The smaller of the two."""
        return self.table.apply(T.V_MIN, self, other)

    def most(self, other: Number) -> Value:
        """The larger of the two."""
        return self.table.apply(T.V_MAX, self, other)

    def choose(self, yes: Number, no: Number) -> Value:
        """`yes` if this is not 0, else `no`."""
        return self.table.apply(T.V_SELECT, self, yes, no)

    def __bool__(self) -> bool:
        raise TypeError("a value is known only when the arena is built; use .choose(yes, no)")


class Values:
    """A values table over named knobs."""

    def __init__(self, knobs: Sequence[str]) -> None:
        self.knobs = tuple(knobs)
        self.rows: list[tuple[int, int, int, int]] = []
        self.names: dict[int, str] = {}  # rows that a listing calls by name
        self._known: dict[tuple[int, int, int, int], Value] = {}

    def _row(self, fn: int, a: int, b: int = 0, c: int = 0) -> Value:
        row = (fn, a, b, c)
        if row not in self._known:
            self._known[row] = Value(self, len(self.rows))
            self.rows.append(row)
        return self._known[row]

    def const(self, number: int) -> Value:
        """A number as a value."""
        return self._row(T.V_CONST, int(number))

    def knob(self, name: str) -> Value:
        """A knob's setting; raises ValueError if it is not declared."""
        return self._row(T.V_KNOB, self.knobs.index(name))

    def value(self, number: Number) -> Value:
        """A number or value of this table as a value; raises ValueError for another table's value."""
        if not isinstance(number, Value):
            return self.const(number)
        if number.table is not self:
            raise ValueError("the value belongs to another table")
        return number

    def apply(self, fn: int, *operands: Number) -> Value:
        """A new row: a function of the values table on numbers or values."""
        return self._row(fn, *(self.value(x).row for x in operands))

    def evaluate(self, knobs: Sequence[int]) -> list[int]:
        """The number of every row at a setting of the knobs (as `sim.engine.build` computes it)."""
        out: list[int] = []
        for fn, a, b, c in self.rows:
            if fn == T.V_CONST:
                out.append(a)
            elif fn == T.V_KNOB:
                out.append(int(knobs[a]))
            else:
                x, y = out[a], out[b]
                out.append(_FUNCTIONS[fn](x, y) if fn != T.V_SELECT else (y if x else out[c]))
        return out

    def text(self, row: int) -> str:
        """A row in words, for listings: ``(mtu - 72)``."""
        if row in self.names:
            return self.names[row]
        fn, a, b, c = self.rows[row]
        if fn == T.V_CONST:
            return str(a)
        if fn == T.V_KNOB:
            return self.knobs[a]
        if fn == T.V_SELECT:
            return f"({self.text(b)} if {self.text(a)} else {self.text(c)})"
        if fn in (T.V_MIN, T.V_MAX):
            return f"{T.VALUE_FUNCTIONS[fn]}({self.text(a)}, {self.text(b)})"
        return f"({self.text(a)} {_SIGNS[fn]} {self.text(b)})"


_SIGNS = {T.V_ADD: "+", T.V_SUB: "-", T.V_MUL: "*", T.V_DIV: "//", T.V_MOD: "%", T.V_EQ: "==", T.V_LT: "<"}
_FUNCTIONS: dict[int, Callable[[int, int], int]] = {
    T.V_ADD: lambda x, y: x + y,
    T.V_SUB: lambda x, y: x - y,
    T.V_MUL: lambda x, y: x * y,
    T.V_DIV: lambda x, y: x // y if y else 0,
    T.V_MOD: lambda x, y: x % y if y else 0,
    T.V_MIN: min,
    T.V_MAX: max,
    T.V_EQ: lambda x, y: int(x == y),
    T.V_LT: lambda x, y: int(x < y),
}
