"""A blueprint: a spec image, read back into rows with names."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import numpy as np
import numpy.typing as npt

from ..engine import tables as T

Words = npt.NDArray[np.int64]
Row = Mapping[str, int]


class Blueprint:
    """All sections of a spec, and the numbers of its values table at the knobs' setting.

    Raises ValueError if the words are no spec image of this version.
    """

    def __init__(self, spec: Words) -> None:
        words = [int(word) for word in spec]
        header = dict(zip(T.SPEC_HEADER, words, strict=False))
        if header.get("magic") != T.SPEC_MAGIC or header.get("version") != T.VERSION:
            raise ValueError("these words are no spec image of this version")
        self.sections: dict[str, list[Row]] = {
            name: _rows(words, header[f"at_{name}"], header[f"n_{name}"], columns)
            for name, columns in T.SECTIONS.items()
        }
        knobs = [row["value"] for row in self.sections["knobs"]]
        self.values = _evaluate(self.sections["values"], knobs)
        self.symbols: Final = header["symbols"]
        self.stats: Final = header["stats"]
        self.seed: Final = self.values[header["seed"]]
        self.trace_rows: Final = self.values[header["trace_rows"]]

    def __getitem__(self, section: str) -> list[Row]:
        return self.sections[section]

    def value(self, row: Row, column: str) -> int:
        """The number that a column of a row refers to."""
        return self.values[row[column]]

    def count(self, row: Row, column: str = "domain") -> int:
        """How many indices the domain has that a column of a row names."""
        return self.value(self["domains"][row[column]], "count")

    def costs(self) -> dict[str, int]:
        """The machine's fields by name."""
        return {
            name: self.value(row, "value")
            for name, row in zip(T.MACHINE_FIELDS, self["machine"], strict=True)
        }


def _rows(words: list[int], at: int, count: int, columns: tuple[str, ...]) -> list[Row]:
    width = len(columns)
    return [
        dict(zip(columns, words[at + width * i : at + width * (i + 1)], strict=True)) for i in range(count)
    ]


def _evaluate(rows: list[Row], knobs: list[int]) -> list[int]:
    """Knob arithmetic: a row is a number, a knob, or a function of earlier rows."""
    out: list[int] = []
    for row in rows:
        fn = row["fn"]
        if fn == T.V_CONST:
            out.append(row["a"])
        elif fn == T.V_KNOB:
            out.append(knobs[row["a"]])
        else:
            x, y = out[row["a"]], out[row["b"]]
            if fn == T.V_SELECT:
                out.append(y if x else out[row["c"]])
            else:
                out.append(_function(fn, x, y))
    return out


def _function(fn: int, x: int, y: int) -> int:
    match T.VALUE_FUNCTIONS[fn]:
        case "add":
            return x + y
        case "sub":
            return x - y
        case "mul":
            return x * y
        case "div":
            return x // y if y else 0
        case "mod":
            return x % y if y else 0
        case "min":
            return min(x, y)
        case "max":
            return max(x, y)
        case "eq":
            return int(x == y)
        case "lt":
            return int(x < y)
    raise ValueError(f"no function {fn} in a values table")
