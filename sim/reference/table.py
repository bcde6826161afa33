"""Tables: cells that a program loads and stores."""

from __future__ import annotations


class Table:
    """Rows of cells, one row after the other."""

    __slots__ = ("cells", "columns", "rows")

    def __init__(self, rows: int, columns: int) -> None:
        self.rows = rows
        self.columns = columns
        self.cells = [0] * (rows * columns)
