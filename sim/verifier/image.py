"""A spec image as the verifier reads it: sections within their limits, values evaluated as `build` does."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

from ..engine import opcodes as O
from ..engine import tables as T
from ..spec import CellType, Integer, Spec
from .unsound import Unsound, at_instruction

VALUE_LIMIT: Final = 1 << 62
_SECTION_OF: Final = {
    "table": "tables", "lines": "lines", "locks": "locks", "queue": "queues", "vector": "vectors",
}
_WORDS: Final = {
    "cond": O.CONDITIONS, "fn": O.ALU_FUNCTIONS, "access": O.ACCESS_KINDS, "draw": O.DRAWS, "end": O.ENDS,
    "who": O.WHO,
}


@dataclass
class Image:
    """An image (a list of integers) beside the spec that it was made from.

    After construction every reference from one section to another is known to exist; numbers may still be
    unsound, which `declared` and `dataflow` look at. Raises `Unsound`.
    """

    spec: Spec
    words: list[int]
    sections: dict[str, list[list[int]]] = field(init=False)
    values: list[int] = field(init=False)
    code: list[list[int]] = field(init=False)  # with value references replaced, as in the arena

    def __post_init__(self) -> None:
        self.sections = self._read_sections()
        self.values = self._evaluate()
        self._check_rows()
        self._match_types()
        self.code = [self._resolve(address, row) for address, row in enumerate(self.sections["code"])]

    # -- sections and values ------------------------------------------------------------------------------

    def _read_sections(self) -> dict[str, list[list[int]]]:
        words = self.words
        if len(words) < T.SPEC_HEADER_WORDS:
            raise Unsound(f"an image has at least {T.SPEC_HEADER_WORDS} words, not {len(words)}", "header")
        head = (words[T.S_MAGIC], words[T.S_VERSION], words[T.S_WORDS])
        right = (T.SPEC_MAGIC, T.VERSION, len(words))
        if head != right:
            raise Unsound(f"magic, version and words are {head}, not {right}", "header")
        out: dict[str, list[list[int]]] = {}
        at = T.SPEC_HEADER_WORDS
        for k, (name, columns) in enumerate(T.SECTIONS.items()):
            start, count = words[T.S_SECTION + 2 * k : T.S_SECTION + 2 * k + 2]
            width = len(columns)
            if start != at or count < 0 or at + count * width > len(words):
                raise Unsound(f"lies at {start} with {count} rows, but {at} is next", f"section {name}")
            out[name] = [words[at + i * width : at + (i + 1) * width] for i in range(count)]
            at += count * width
        if at != len(words):
            raise Unsound(f"the sections end at word {at}, not {len(words)}", "header")
        return out

    def _evaluate(self) -> list[int]:
        knobs = self.sections["knobs"]
        out: list[int] = []
        for i, (fn, a, b, c) in enumerate(self.sections["values"]):
            where = f"value {i}"
            if not 0 <= fn < len(T.VALUE_FUNCTIONS):
                raise Unsound(f"there is no function {fn}", where)
            if fn == T.V_CONST:
                number = a
            elif fn == T.V_KNOB:
                number = knobs[self._index(a, len(knobs), "knob", where)][0]
            else:
                for operand in (a, b, c if fn == T.V_SELECT else 0):
                    if not 0 <= operand < i:
                        raise Unsound(f"refers to value {operand}, which does not come before it", where)
                number = _apply(fn, out[a], out[b], out[c] if fn == T.V_SELECT else 0)
            if abs(number) >= VALUE_LIMIT:
                raise Unsound(f"is {number}, which could overflow", where)
            out.append(number)
        return out

    def _index(self, number: int, count: int, what: str, where: str) -> int:
        if not 0 <= number < count:
            raise Unsound(f"there is no {what} {number}; there are {count}", where)
        return number

    def _check_rows(self) -> None:
        counts = {name: len(rows) for name, rows in self.sections.items()}
        kinds = {
            "domain": "domains", "items": "domains", "lines": "lines", "table": "tables", "queue": "queues",
            "entry": "code",
        }
        plain = {("spawns", "kind"), ("inits", "draw"), ("inits", "column"), ("tables", "columns")}
        for name in T.SECTIONS:
            if name in ("knobs", "values", "code"):
                continue
            for i, row in enumerate(self.sections[name]):
                where = self.name(name, i)
                for column, number in zip(T.SECTIONS[name], row, strict=True):
                    if (name, column) in plain:
                        continue
                    kind = kinds.get(column, "values")
                    self._index(number, counts[kind], kind.removesuffix("s"), where)
        for name, word in (("seed", T.S_SEED), ("trace rows", T.S_TRACE_ROWS)):
            self._index(self.words[word], counts["values"], "value", name)
        if counts["machine"] != len(T.MACHINE_FIELDS):
            raise Unsound(f"there are {counts['machine']} fields, not {len(T.MACHINE_FIELDS)}", "machine")
        if counts["vectors"] > O.VECTOR_COUNT:
            raise Unsound(f"{counts['vectors']} vectors, but a CPU has {O.VECTOR_COUNT}", "vectors")
        if self.words[T.S_SYMBOLS] < 1 or self.words[T.S_STATS] < 1:
            raise Unsound("there must be a symbol and a counter", "header")

    def _match_types(self) -> None:
        """The types of cells stand in the spec, not in the image."""
        rows, tables = self.sections["tables"], self.spec.tables
        if [row[1] for row in rows] != [len(t.columns) for t in tables]:
            raise Unsound("the tables are not those of the spec", "tables")
        for table in tables:
            for name, kind in table.columns.items():
                if not isinstance(kind, Integer) and kind.domain not in self.spec.domains:
                    raise Unsound(f"column {name} refers to a domain of another spec", f"table {table.name}")

    # -- code ---------------------------------------------------------------------------------------------

    def _resolve(self, address: int, row: list[int]) -> list[int]:
        """An instruction's words with values in place; every set, register, target and enumeration exists."""
        if not 0 <= row[0] < len(O.NAMES):
            raise self.unsound(address, f"there is no opcode {row[0]}")
        opcode = O.OPCODES[O.NAMES[row[0]]]
        out = list(row)
        allowed = sum(1 << (k + 1) for k, operand in enumerate(opcode.operands) if operand.kind == "number")
        mask = row[O.MASK_WORD]
        if mask & ~allowed:
            raise self.unsound(address, f"mask {mask} puts values where none may stand")
        for k in range(1, 6):
            if (mask >> k) & 1:
                if not 0 <= row[k] < len(self.values):
                    raise self.unsound(address, f"there is no value {row[k]}; there are {len(self.values)}")
                out[k] = self.values[row[k]]
        if not 0 <= row[O.SYMBOL_WORD] < self.words[T.S_SYMBOLS]:
            raise self.unsound(address, f"there is no symbol {row[O.SYMBOL_WORD]}")
        for k, operand in enumerate(opcode.operands):
            self._check_operand(address, operand, out[k + 1], out)
        return out

    def _check_operand(self, address: int, operand: O.Operand, word: int, row: list[int]) -> None:
        kind = operand.kind
        if kind == "number":
            if abs(word) >= VALUE_LIMIT:
                raise self.unsound(address, f"{operand.name} is {word}, which could overflow")
            return
        low = -1 if kind.endswith("?") else 0
        high = self._choices(kind.removesuffix("?"), row)
        if not low <= word < high:
            what = {"reg": "register", "dst": "register", "cond": "condition", "fn": "function"}.get(
                kind.removesuffix("?"), kind.removesuffix("?")
            )
            raise self.unsound(address, f"{operand.name} is {word}: there is no {what} of that number")

    def _choices(self, kind: str, row: list[int]) -> int:
        if kind in ("reg", "dst"):
            return O.REGISTERS
        if kind == "target":  # one past the end may be named; to reach it is refused
            return len(self.sections["code"]) + 1
        if kind == "column":
            tables = self.sections["tables"]
            return tables[row[1]][1] if 0 <= row[1] < len(tables) else 0
        if kind == "stat":
            return self.words[T.S_STATS]
        if kind in _SECTION_OF:
            return len(self.sections[_SECTION_OF[kind]])
        return len(_WORDS[kind])

    # -- what the checks ask ------------------------------------------------------------------------------

    def unsound(self, address: int, reason: str) -> Unsound:
        """The refusal of an instruction."""
        return at_instruction(self.spec.program, address, self.sections["code"][address], reason)

    def name(self, section: str, number: int) -> str:
        """What a refusal calls a row of a section: ``queue 2 (backlog)``."""
        named: dict[str, list[str]] = {
            "domains": [d.name for d in self.spec.domains], "tables": [t.name for t in self.spec.tables],
            "lines": [x.name for x in self.spec.lines], "locks": [k.name for k in self.spec.locks],
            "queues": [q.name for q in self.spec.queues], "spawns": [s.name for s in self.spec.spawns],
            "vectors": self.spec.vectors, "machine": list(T.MACHINE_FIELDS),
        }
        names = named.get(section, [])
        one = section if section in ("lines", "machine") else section.removesuffix("s")
        return f"{one} {number} ({names[number]})" if number < len(names) else f"{one} {number}"

    def count(self, domain: int) -> int:
        """Rows of a domain."""
        return self.values[self.sections["domains"][domain][0]]

    def value(self, section: str, row: int, column: str) -> int:
        """The number that a column of a section refers to."""
        return self.values[self.sections[section][row][T.SECTIONS[section].index(column)]]

    def machine(self, field_name: str) -> int:
        """A field of the machine."""
        return self.value("machine", T.MACHINE_FIELDS.index(field_name), "value")

    @property
    def cpus(self) -> int:
        """CPUs of the machine."""
        return self.machine("sockets") * self.machine("cores_per_socket") * self.machine("threads_per_core")

    def spawned(self, kind: int) -> int:
        """Threads or agents of all spawns."""
        rows = self.sections["spawns"]
        return sum(self.value("spawns", i, "count") for i, row in enumerate(rows) if row[0] == kind)

    def column_type(self, table: int, column: int) -> CellType:
        """The declared type of a cell."""
        return list(self.spec.tables[table].columns.values())[column]

    def column_name(self, table: int, column: int) -> str:
        """``table.column``."""
        return f"{self.spec.tables[table].name}.{list(self.spec.tables[table].columns)[column]}"

    def column_range(self, kind: CellType) -> tuple[int, int]:
        """The numbers that a cell of a type may hold."""
        if isinstance(kind, Integer):
            return kind.low, kind.high
        return -1 if kind.none else 0, self.count(kind.domain.number) - 1


def _apply(fn: int, x: int, y: int, z: int) -> int:
    if fn in (T.V_DIV, T.V_MOD) and y == 0:
        return 0  # as in `build`: both sides of a choice are evaluated
    functions = {
        T.V_ADD: lambda: x + y, T.V_SUB: lambda: x - y, T.V_MUL: lambda: x * y, T.V_DIV: lambda: x // y,
        T.V_MOD: lambda: x % y, T.V_MIN: lambda: min(x, y), T.V_MAX: lambda: max(x, y),
        T.V_EQ: lambda: int(x == y), T.V_LT: lambda: int(x < y), T.V_SELECT: lambda: y if x else z,
    }
    return functions[fn]()
