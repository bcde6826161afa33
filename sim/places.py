"""Names for places of an arena: which row of which struct, lock or queue a number of a trace stands for."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence

from .engine import tables as T
from .engine.jit import Array
from .expression import Value
from .schema import nearest
from .spec import Lines, Spec


class Places:
    """The places of an arena of a spec, which do not move while it runs.

    >>> from sim import scenarios
    >>> s = scenarios.load("tcp-5.17")
    >>> places = Places(s.spec, NativeEngine().build(s.image()))     # doctest: +SKIP
    >>> places.line(places.field("sock", "sk_lock.slock"))           # doctest: +SKIP
    'sock[0] line 2: sk_lock.slock, sk_lock.owned'
    """

    def __init__(self, spec: Spec, arena: Array) -> None:
        self.spec = spec
        values = int(arena[T.H_AT_VALUE])
        self._value = [int(x) for x in arena[values : values + len(spec.values.rows)]]
        at = int(arena[T.H_AT_SET])
        first = [int(x) for x in arena[at : at + self._sets()]]
        tables, lines, locks = len(spec.tables), len(spec.lines), len(spec.locks)
        self._lines = first[tables : tables + lines]
        self._locks = first[tables + lines : tables + lines + locks]
        self._queues = first[tables + lines + locks :]

    def _sets(self) -> int:
        spec = self.spec
        return len(spec.tables) + len(spec.lines) + len(spec.locks) + len(spec.queues)

    def _number(self, number: int | Value) -> int:
        return self._value[number.row] if isinstance(number, Value) else int(number)

    def per_row(self, lines: Lines) -> int:
        """Cache lines of one row of a struct."""
        return self._number(lines.per_row)

    def fields(self, lines: Lines, line: int) -> list[str]:
        """The fields that lie on a line of a struct."""
        return [name for name, at in lines.fields.items() if self._number(at) == line]

    def line(self, place: int) -> str:
        """A cache line in words."""
        lines, row, line = self._line(place)
        at = f" line {line}" if self.per_row(lines) > 1 else ""
        return f"{_row(lines.name, row, self._number(lines.domain.count))}{at}: {', '.join(self.fields(lines, line))}"

    def _line(self, place: int) -> tuple[Lines, int, int]:
        number = bisect_right(self._lines, place) - 1
        lines = self.spec.lines[number]
        at = (place - self._lines[number]) // T.LINE_WORDS
        return lines, *divmod(at, self.per_row(lines))

    def field(self, struct: str, field: str, row: int = 0) -> int:
        """The cache line that a field of a row of a struct lies on.

        Raises ValueError for a struct, field or row that there is not, with the nearest name or the range.
        """
        names = [lines.name for lines in self.spec.lines]
        if struct not in names:
            raise ValueError(f"no struct {struct!r}; {nearest(struct, names)}")
        lines = self.spec.lines[names.index(struct)]
        count = self._number(lines.domain.count)
        if not 0 <= row < count:
            raise ValueError(f"{struct} has rows 0 to {count - 1}, not {row}")
        line = row * self.per_row(lines) + self._number(lines.line(field))
        return self._lines[lines.number] + T.LINE_WORDS * line

    def lock(self, place: int) -> str:
        """A lock in words."""
        number = bisect_right(self._locks, place) - 1
        locks = self.spec.locks[number]
        row = (place - self._locks[number]) // T.LOCK_WORDS
        return _row(locks.name, row, self._number(locks.domain.count))

    def queue(self, place: int) -> str:
        """A queue in words."""
        number = bisect_right(self._queues, place) - 1
        queue = self.spec.queues[number]
        row = (place - self._queues[number]) // T.QUEUE_WORDS
        return _row(queue.name, row, self._number(queue.domain.count))

    def queues(self, names: Sequence[str]) -> list[int]:
        """The places of all queues of some names; raises ValueError for a name that there is not."""
        known = [queue.name for queue in self.spec.queues]
        for name in names:
            if name not in known:
                raise ValueError(f"no queue {name!r}; {nearest(name, known)}")
        return [
            self._queues[queue.number] + T.QUEUE_WORDS * row
            for queue in self.spec.queues if queue.name in names
            for row in range(self._number(queue.domain.count))
        ]


def _row(name: str, row: int, count: int) -> str:
    return name if count == 1 else f"{name}[{row}]"
