"""A relocatable WebAssembly object, as LLVM emits it, made into a module without a linker.

LLVM writes into every relocatable field the value it would have if the object were linked alone, with its
data at address 0. So one object is already a module in its own index space, and all a linker would add here
is: memory and stack pointer defined instead of imported, and exports. That the fields do hold those values
is not taken on trust: every relocation is compared with the symbol it names.

Sources: WebAssembly core specification 2.0, chapter 5 (binary format); tool-conventions, Linking.md
(object file linking, version 2).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

MAGIC: Final = b"\0asm\x01\0\0\0"
PAGE: Final = 65_536
STACK_TOP: Final = PAGE  # the stack grows down to the data; what hosts place begins here
LEAST_STACK: Final = 32_768
ALLOWED_IMPORTS: Final = frozenset({"fmod", "memset", "memcpy", "memmove"})

CUSTOM, TYPE, IMPORT, FUNCTION, TABLE, MEMORY, GLOBAL, EXPORT, START, ELEMENT, CODE, DATA, COUNT = range(13)
ORDER: Final = (TYPE, IMPORT, FUNCTION, TABLE, MEMORY, GLOBAL, EXPORT, START, ELEMENT, COUNT, CODE, DATA)
IMPORTED_FUNCTION, _, IMPORTED_MEMORY, IMPORTED_GLOBAL = range(4)
SYMBOL_FUNCTION, SYMBOL_DATA, SYMBOL_GLOBAL, SYMBOL_SECTION = range(4)
UNDEFINED: Final = 0x10
EXPLICIT_NAME: Final = 0x40
SYMBOL_TABLE: Final = 8
I32, MUTABLE, END = b"\x7f", b"\x01", b"\x0b"


class ObjectError(ValueError):
    """The object cannot become a module of the engine; the message names what stands in the way."""


class Reader:
    """A cursor over bytes in the binary format."""

    def __init__(self, data: bytes, at: int = 0) -> None:
        self.data = data
        self.at = at

    @property
    def more(self) -> bool:
        """Whether bytes are left."""
        return self.at < len(self.data)

    def take(self, count: int) -> bytes:
        """The next `count` bytes."""
        if self.at + count > len(self.data):
            raise ObjectError("object ends in the middle of a field")
        part = self.data[self.at : self.at + count]
        self.at += count
        return part

    def byte(self) -> int:
        """The next byte."""
        return self.take(1)[0]

    def unsigned(self) -> int:
        """An unsigned LEB128 number."""
        value = shift = 0
        while True:
            byte = self.byte()
            value |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                return value

    def signed(self) -> int:
        """A signed LEB128 number."""
        start = self.at
        value = self.unsigned()
        bits = 7 * (self.at - start)
        return value - (1 << bits) if value >> (bits - 1) else value

    def sized(self) -> bytes:
        """A byte string with its length in front."""
        return self.take(self.unsigned())

    def name(self) -> str:
        """A name with its length in front."""
        return self.sized().decode()


def unsigned(value: int) -> bytes:
    """LEB128 of a number that is not negative."""
    out = bytearray()
    while value >= 0x80:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*out, value])


def signed(value: int) -> bytes:
    """LEB128 of a signed number."""
    out = bytearray()
    while not -64 <= value < 64:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*out, value & 0x7F])


def name(text: str) -> bytes:
    """A name with its length in front."""
    return unsigned(len(text.encode())) + text.encode()


def section(number: int, payload: bytes) -> bytes:
    """A section with its number and size."""
    return bytes([number]) + unsigned(len(payload)) + payload


def custom_section(title: str, payload: bytes) -> bytes:
    """A custom section: engines skip it, tools read it."""
    return section(CUSTOM, name(title) + payload)


def sections(module: bytes) -> list[tuple[int, bytes]]:
    """Numbers and payloads of a module's or object's sections, in order."""
    if module[: len(MAGIC)] != MAGIC:
        raise ObjectError("not a WebAssembly object, version 1")
    reader, found = Reader(module, len(MAGIC)), []
    while reader.more:
        number = reader.byte()
        found.append((number, reader.sized()))
    return found


def custom(module: bytes, title: str) -> bytes | None:
    """The payload of the first custom section with this title, None without one."""
    for number, payload in sections(module):
        reader = Reader(payload)
        if number == CUSTOM and reader.name() == title:
            return payload[reader.at :]
    return None


@dataclass(frozen=True)
class Symbol:
    """An entry of the symbol table; a data symbol has the segment it lies in and its offset there."""

    kind: int
    index: int
    offset: int
    name: str
    defined: bool


@dataclass(frozen=True)
class Import:
    """What the object wants from outside: the import's kind, name and encoded description."""

    module: str
    name: str
    kind: int
    description: bytes


def _limits(reader: Reader) -> None:
    if reader.byte() & 1:
        reader.unsigned()
    reader.unsigned()


def imports(payload: bytes) -> list[Import]:
    """The import section's entries."""
    reader, found = Reader(payload), []
    for _ in range(reader.unsigned()):
        module, title, kind = reader.name(), reader.name(), reader.byte()
        start = reader.at
        if kind == IMPORTED_FUNCTION:
            reader.unsigned()
        elif kind == IMPORTED_MEMORY:
            _limits(reader)
        elif kind == IMPORTED_GLOBAL:
            reader.take(2)
        else:
            raise ObjectError(f"import {module}.{title} is of kind {kind}: indirect calls are not supported")
        found.append(Import(module, title, kind, reader.data[start : reader.at]))
    return found


def symbols(linking: bytes) -> list[Symbol]:
    """The symbol table of the linking section."""
    reader, found = Reader(linking), []
    if reader.unsigned() != 2:
        raise ObjectError("linking section is not of version 2")
    while reader.more:
        if reader.byte() != SYMBOL_TABLE:
            reader.sized()
            continue
        part = Reader(reader.sized())
        for _ in range(part.unsigned()):
            kind, flags = part.byte(), part.unsigned()
            defined = not flags & UNDEFINED
            index = offset = 0
            title = ""
            if kind == SYMBOL_DATA:
                title = part.name()
                if defined:
                    index, offset = part.unsigned(), part.unsigned()
                    part.unsigned()
            else:
                index = part.unsigned()
                if kind != SYMBOL_SECTION and (defined or flags & EXPLICIT_NAME):
                    title = part.name()
            found.append(Symbol(kind, index, offset, title, defined))
    return found


def segments(payload: bytes) -> list[tuple[int, int]]:
    """Address and size in bytes of every data segment."""
    reader, found = Reader(payload), []
    for _ in range(reader.unsigned()):
        if reader.take(2) != b"\x00\x41":  # active, in memory 0, at an i32.const
            raise ObjectError("a data segment is not at a constant address")
        address = reader.signed()
        reader.take(1)
        found.append((address, len(reader.sized())))
    return found


def check_relocations(
    parts: list[tuple[int, bytes]], table: list[Symbol], data: list[tuple[int, int]]
) -> None:
    """Refuse an object whose fields do not hold what a link alone at address 0 would write.

    Only the code and data sections count; other relocated sections are for debuggers and are dropped.
    """
    for number, payload in parts:
        if number != CUSTOM:
            continue
        reader = Reader(payload)
        if reader.name() not in ("reloc.CODE", "reloc.DATA"):
            continue
        target = parts[reader.unsigned()][1]
        for _ in range(reader.unsigned()):
            kind, at, index = reader.byte(), reader.unsigned(), reader.unsigned()
            field = Reader(target, at)
            if kind == 6:  # R_WASM_TYPE_INDEX_LEB: the index is of a type, not of a symbol
                expected, found = index, field.unsigned()
            elif kind in (0, 7):  # R_WASM_FUNCTION_INDEX_LEB, R_WASM_GLOBAL_INDEX_LEB
                expected, found = table[index].index, field.unsigned()
            elif kind in (3, 4, 5):  # R_WASM_MEMORY_ADDR_LEB, _SLEB, _I32
                addend, symbol = reader.signed(), table[index]
                if not symbol.defined:
                    raise ObjectError(f"data symbol {symbol.name} is not defined")
                expected = data[symbol.index][0] + symbol.offset + addend
                if kind == 5:
                    found = int.from_bytes(field.take(4), "little")
                else:
                    found = field.unsigned() if kind == 3 else field.signed()
            else:
                raise ObjectError(f"relocation of kind {kind}: indirect calls are not supported")
            if expected != found:
                raise ObjectError(f"relocation of kind {kind} at {at} holds {found}, not {expected}")


def link(obj: bytes, export: str, stamps: dict[str, bytes] | None = None) -> bytes:
    """The module of one object: exports `export`, `memory` and the global `base`, imports only functions.

    `base` is the first byte a host may use. `stamps` become custom sections, by title.

    Raises
    ------
    ObjectError
        If the object needs a function outside `ALLOWED_IMPORTS` (all are named), does not define `export`,
        or uses what a lone object cannot have.
    """
    parts = sections(obj)
    body = {number: payload for number, payload in parts if number != CUSTOM}
    linking = custom(obj, "linking")
    if linking is None:
        raise ObjectError("object has no linking section")
    table, data = symbols(linking), segments(body.get(DATA, b"\0"))
    check_relocations(parts, table, data)

    wanted = imports(body.get(IMPORT, b"\0"))
    functions = [one for one in wanted if one.kind == IMPORTED_FUNCTION]
    foreign = sorted({one.name for one in functions} - ALLOWED_IMPORTS)
    if foreign:
        names, allowed = ", ".join(foreign), ", ".join(sorted(ALLOWED_IMPORTS))
        raise ObjectError(f"engine calls what a page does not have: {names} (allowed: {allowed})")
    globals_wanted = {one.name for one in wanted if one.kind == IMPORTED_GLOBAL}
    if globals_wanted - {"__stack_pointer"} or GLOBAL in body:
        raise ObjectError("engine has globals besides the stack pointer")
    end = max((address + size for address, size in data), default=0)
    if end > STACK_TOP - LEAST_STACK:
        raise ObjectError(f"engine has {end} bytes of constants; at most {STACK_TOP - LEAST_STACK} fit")
    index = [s.index for s in table if s.kind == SYMBOL_FUNCTION and s.name == export and s.defined]
    if not index:
        raise ObjectError(f"object does not define {export}")

    entries = b"".join(name(o.module) + name(o.name) + bytes([o.kind]) + o.description for o in functions)
    body[IMPORT] = unsigned(len(functions)) + entries
    body[MEMORY] = unsigned(1) + b"\0" + unsigned(STACK_TOP // PAGE)
    top = b"\x41" + signed(STACK_TOP) + END
    body[GLOBAL] = unsigned(2) + I32 + MUTABLE + top + I32 + b"\0" + top
    exports = {
        export: (IMPORTED_FUNCTION, index[0]),
        "memory": (IMPORTED_MEMORY, 0),
        "base": (IMPORTED_GLOBAL, 1),
    }
    entries = b"".join(name(title) + bytes([kind]) + unsigned(i) for title, (kind, i) in exports.items())
    body[EXPORT] = unsigned(len(exports)) + entries
    stamped = b"".join(custom_section(title, text) for title, text in (stamps or {}).items())
    return MAGIC + b"".join(section(n, body[n]) for n in ORDER if n in body) + stamped
