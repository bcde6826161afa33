"""A kernel struct as fields at offsets: a field's cache line is offset // 64, false sharing is two on one.

A layout key moves fields: `layout.move("sk_rx_dst", 136)` gives a new layout, the old one stays. Fields that
would overlap are refused with both names. `pack` computes offsets from sizes and alignments by C's rule, and
`diff` tells which fields changed their offset or line.

>>> before = Layout.of("pair", [("refcnt", 0, 4), ("generation", 24, 4)], source="an example")
>>> before.shares("refcnt", "generation")
True
>>> after = before.move("generation", 64)
>>> after.line("generation"), after.size
(1, 68)
>>> [str(change) for change in before.diff(after)]
['generation: offset 24, line 0 -> offset 64, line 1']
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from dataclasses import field as declared
from typing import Final

from sim.schema import nearest

LINE_BYTES: Final = 64


class LayoutError(ValueError):
    """A layout that cannot be: overlapping fields, a field that does not exist, a bad offset or size."""


@dataclass(frozen=True)
class Field:
    """A member of a struct: bytes `offset` to `offset + size`, what it is for, its alignment if `pack` placed it."""

    name: str
    offset: int
    size: int
    comment: str = ""
    align: int = declared(default=0, compare=False)  # 0: not known; a layout is its offsets, however they came

    @property
    def end(self) -> int:
        """The first byte behind the field."""
        return self.offset + self.size

    @property
    def line(self) -> int:
        """The cache line that the field begins on."""
        return self.offset // LINE_BYTES

    @property
    def last_line(self) -> int:
        """The cache line that the field ends on; another one than `line` if it straddles a boundary."""
        return (self.end - 1) // LINE_BYTES


@dataclass(frozen=True)
class Member:
    """A member of a struct before it has an offset: what C's rule needs to place it."""

    name: str
    size: int
    align: int = 0  # 0: the size itself, as for a scalar
    comment: str = ""


@dataclass(frozen=True)
class Change:
    """How one field differs between two layouts; a side is None if the field is not there."""

    name: str
    before: Field | None
    after: Field | None

    @property
    def line_changed(self) -> bool:
        """Whether the field lies on another line, or came, or went."""
        return self.before is None or self.after is None or self.before.line != self.after.line

    def __str__(self) -> str:
        sides = [f"offset {f.offset}, line {f.line}" if f else "absent" for f in (self.before, self.after)]
        return f"{self.name}: {sides[0]} -> {sides[1]}"


@dataclass(frozen=True)
class Layout:
    """A struct of `size` bytes whose fields do not overlap, in the order of their offsets.

    Attributes
    ----------
    source
        Where the offsets come from, in words fit for a page.
    status
        ``printed`` (a message or debugger prints them), ``derived`` (computed from the declarations by C's
        rule) or ``assumed``.
    """

    name: str
    fields: tuple[Field, ...]
    size: int
    source: str
    status: str = "derived"

    def __post_init__(self) -> None:
        object.__setattr__(self, "fields", tuple(sorted(self.fields, key=lambda field: field.offset)))
        seen: set[str] = set()
        for field in self.fields:
            if field.name in seen:
                raise LayoutError(f"{self.name}: the field {field.name!r} stands twice")
            seen.add(field.name)
            if field.offset < 0 or field.size < 1:
                raise LayoutError(
                    f"{self.name}: {field.name!r} at offset {field.offset} with {field.size} bytes; "
                    "offsets begin at 0 and sizes at 1"
                )
        for left, right in zip(self.fields, self.fields[1:], strict=False):
            if left.end > right.offset:
                raise LayoutError(
                    f"{self.name}: {left.name!r} (bytes {left.offset} to {left.end - 1}) and {right.name!r} "
                    f"(bytes {right.offset} to {right.end - 1}) overlap"
                )
        if self.fields and self.size < self.fields[-1].end:
            raise LayoutError(f"{self.name}: {self.size} bytes cannot hold {self.fields[-1].name!r}")

    @classmethod
    def of(
        cls, name: str, fields: Iterable[tuple[str, int, int]], *, source: str, status: str = "derived"
    ) -> Layout:
        """A layout from (name, offset, size) rows; its size is the end of the last field."""
        made = tuple(Field(*row) for row in fields)
        return cls(name, made, max((field.end for field in made), default=0), source, status)

    @classmethod
    def pack(
        cls, name: str, members: Iterable[Member], *, source: str, status: str = "derived", align: int = 8
    ) -> Layout:
        """Place members one after the other, each at the next multiple of its alignment, as C does.

        Parameters
        ----------
        align
            Alignment of the whole struct, to which its size is rounded up.
        """
        fields, at = [], 0
        for member in members:
            step = member.align or member.size
            at = -(-at // step) * step
            fields.append(Field(member.name, at, member.size, member.comment, step))
            at += member.size
        return cls(name, tuple(fields), -(-at // align) * align, source, status)

    def field(self, name: str) -> Field:
        """The field of that name. Raises LayoutError with the nearest name if there is none."""
        for field in self.fields:
            if field.name == name:
                return field
        names = [field.name for field in self.fields]
        raise LayoutError(f"{self.name} has no field {name!r}; {nearest(name, names)}")

    def line(self, name: str) -> int:
        """The cache line that a field begins on: offset // 64."""
        return self.field(name).line

    def lines_of(self, *names: str) -> tuple[int, ...]:
        """The cache lines that an access to all of these fields touches, each once, in order."""
        fields = [self.field(name) for name in names]
        return tuple(sorted({line for f in fields for line in range(f.line, f.last_line + 1)}))

    def shares(self, *names: str) -> bool:
        """Whether these fields lie on one cache line."""
        return len(self.lines_of(*names)) == 1

    @property
    def lines(self) -> int:
        """Number of cache lines of the struct."""
        return -(-self.size // LINE_BYTES)

    def on_line(self, line: int) -> tuple[str, ...]:
        """Names of the fields with at least one byte on a line."""
        return tuple(field.name for field in self.fields if field.line <= line <= field.last_line)

    def move(self, name: str | Mapping[str, int], offset: int | None = None) -> Layout:
        """A layout key: a new layout with a field, or all fields of a mapping, at new offsets.

        The struct grows if it must and never shrinks; it stays a multiple of what it was aligned to only if
        the caller says so by the offsets.

        Raises
        ------
        LayoutError
            if a field does not exist, or if two fields would overlap (both are named).
        """
        if isinstance(name, str):
            if offset is None:
                raise LayoutError(f"{self.name}: where to move {name!r} is not said")
            moves: Mapping[str, int] = {name: offset}
        else:
            moves = name
        for moved in moves:
            self.field(moved)
        fields = tuple(replace(field, offset=moves.get(field.name, field.offset)) for field in self.fields)
        size = max([self.size, *(field.end for field in fields)])
        return replace(self, fields=fields, size=size)

    def diff(self, other: Layout) -> tuple[Change, ...]:
        """The fields whose offset or size differs in the other layout, or that only one of them has."""
        mine = {field.name: field for field in self.fields}
        theirs = {field.name: field for field in other.fields}
        names = [*mine, *(name for name in theirs if name not in mine)]
        changes = (Change(name, mine.get(name), theirs.get(name)) for name in names)
        return tuple(
            change
            for change in changes
            if change.before is None
            or change.after is None
            or (change.before.offset, change.before.size) != (change.after.offset, change.after.size)
        )

    def table(self) -> list[dict[str, str | int]]:
        """Rows in byte order, holes with an empty name included: line, offset, size, field, comment."""
        rows: list[dict[str, str | int]] = []
        at = 0
        for field in (*self.fields, Field("", self.size, 1)):
            if field.offset > at:
                rows.append({
                    "line": at // LINE_BYTES, "offset": at, "size": field.offset - at, "field": "",
                    "comment": "hole",
                })
            if field.name:
                rows.append({
                    "line": field.line, "offset": field.offset, "size": field.size, "field": field.name,
                    "comment": field.comment,
                })
            at = field.end
        return rows
