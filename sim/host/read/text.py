"""Files that a reader brings: text of any encoding; an error names file, line and what was expected."""

from __future__ import annotations

import codecs
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Final, NoReturn

LARGEST_BYTES: Final = 256 * 1024 * 1024
BINARY: Final = {
    b"PERFILE2": "is perf.data itself: turn it into text with perf report --stdio or perf script",
    b"2ELIFREP": "is perf.data itself, of a machine with the other byte order: use perf report --stdio there",
    b"\x1f\x8b": "is compressed: unpack it first",
    b"\x28\xb5\x2f\xfd": "is compressed: unpack it first",
    b"PK\x03\x04": "is an archive: unpack it first",
}
_BOMS: Final = ((codecs.BOM_UTF8, "utf-8-sig"), (codecs.BOM_UTF16_LE, "utf-16"), (codecs.BOM_UTF16_BE, "utf-16"))
#: perf top redraws its screen: cursor movements and colours.
_ESCAPES: Final = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")
#: What separates thousands in one language or another: spaces, apostrophes.
_GROUPS: Final = str.maketrans("", "", " \u00a0\u202f\u2009'\u2019")


class Unreadable(ValueError):
    """A file that is not what it should be, or not all of it; the message is one line."""


class Source:
    """The lines of a file and their numbers."""

    def __init__(self, name: str, lines: Sequence[str]) -> None:
        self.name = name
        self.lines = lines

    @classmethod
    def of(cls, text: str, name: str = "the text") -> Source:
        """From text; terminal escapes go."""
        return cls(name, _ESCAPES.sub("", text).replace("\r\n", "\n").split("\n"))

    @classmethod
    def open(cls, path: Path) -> Source:
        """From a file. Raises Unreadable if it is empty, too large or no text, and OSError if it cannot be opened."""
        with path.open("rb") as file:
            data = file.read(LARGEST_BYTES + 1)
        if len(data) > LARGEST_BYTES:
            raise Unreadable(f"{path}: more than {LARGEST_BYTES >> 20} MB of text; record for a shorter time")
        for magic, what in BINARY.items():
            if data.startswith(magic):
                raise Unreadable(f"{path}: {what}")
        encoding = next((name for bom, name in _BOMS if data.startswith(bom)), "utf-8")
        if encoding != "utf-16" and b"\0" in data:
            raise Unreadable(f"{path}: holds a zero byte, so it is no text")
        try:
            text = data.decode(encoding)
        except UnicodeDecodeError:
            text = data.decode("latin-1")  # a command's name may be in any encoding; what is read here is ASCII
        if not text.strip():
            raise Unreadable(f"{path}: is empty")
        return cls.of(text, str(path))

    def refuse(self, at: int, what: str) -> NoReturn:
        """Raise Unreadable for a line, counted from 0."""
        raise Unreadable(f"{self.name}:{at + 1}: {what}")

    def fail(self, what: str) -> NoReturn:
        """Raise Unreadable for the whole file."""
        raise Unreadable(f"{self.name}: {what}")


def whole(text: str) -> int | None:
    """A count, with or without separators of thousands (``1,234``, ``1.234``, ``1 234``); None if it is none."""
    plain = text.strip().translate(_GROUPS)
    if re.fullmatch(r"[0-9]{1,3}([.,][0-9]{3})+", plain):
        plain = re.sub(r"[.,]", "", plain)
    return int(plain) if re.fullmatch(r"[0-9]{1,30}", plain) else None


def share(text: str) -> float | None:
    """Per cent as ``12.5%``, or ``12,5 %`` where a comma is the decimal sign; None if it is none."""
    found = re.fullmatch(r"([0-9]{1,3})(?:[.,]([0-9]+))?\s?%", text.strip().translate(_GROUPS))
    if found is None:
        return None
    value = float(f"{found[1]}.{found[2] or 0}")
    return value if value <= 100 else None
