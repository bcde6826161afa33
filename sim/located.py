"""A JSON document that knows on which line each of its values stands.

The standard library reads JSON but forgets the lines, and an error for people needs them. `parse` returns
plain Python values together with a map from the path of a value to its line. A key that stands twice in one
object is refused, since the reader of the file cannot know which of the two counts.

>>> document = parse('{"a": 1,\\n "b": {"c": 2}}')
>>> document.value
{'a': 1, 'b': {'c': 2}}
>>> document.line_of(("b", "c"))
2
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from json.decoder import JSONDecodeError, scanstring  # type: ignore[attr-defined]  # not in typeshed
from typing import Any, Final

Path = tuple[str | int, ...]

_SPACE: Final = re.compile(r"[ \t\n\r]*")
_NUMBER: Final = re.compile(r"-?(?:0|[1-9]\d*)(\.\d+)?([eE][-+]?\d+)?")
_WORDS: Final[dict[str, Any]] = {"true": True, "false": False, "null": None}
_DEPTH: Final = 32
_DIGITS: Final = 40


@dataclass(frozen=True)
class Document:
    """A parsed JSON text: its value and the line (from 1) of every value in it."""

    value: Any
    lines: dict[Path, int]

    def line_of(self, path: Path) -> int:
        """The line of the value at `path`, or of the nearest value around it."""
        while path and path not in self.lines:
            path = path[:-1]
        return self.lines.get(path, 1)


class _Reader:
    def __init__(self, text: str) -> None:
        self.text = text
        self.lines: dict[Path, int] = {}

    def fail(self, message: str, at: int) -> JSONDecodeError:
        return JSONDecodeError(message, self.text, at)

    def skip(self, at: int) -> int:
        found = _SPACE.match(self.text, at)
        return found.end() if found else at

    def value(self, at: int, path: Path) -> tuple[Any, int]:
        if len(path) > _DEPTH:
            raise self.fail(f"nested more than {_DEPTH} deep", at)
        self.lines.setdefault(path, self.text.count("\n", 0, at) + 1)
        lead = self.text[at : at + 1]
        if lead == "{":
            return self.members(at + 1, path)
        if lead == "[":
            return self.elements(at + 1, path)
        if lead == '"':
            string, end = scanstring(self.text, at + 1, True)
            return string, end
        for word, meaning in _WORDS.items():
            if self.text.startswith(word, at):
                return meaning, at + len(word)
        number = _NUMBER.match(self.text, at)
        if number is None:
            raise self.fail("a value is expected here", at)
        if len(number.group()) > _DIGITS:
            raise self.fail(f"a number of more than {_DIGITS} characters", at)
        whole = number.group(1) is None and number.group(2) is None
        return (int(number.group()) if whole else float(number.group())), number.end()

    def members(self, at: int, path: Path) -> tuple[dict[str, Any], int]:
        result: dict[str, Any] = {}
        at = self.skip(at)
        if self.text[at : at + 1] == "}":
            return result, at + 1
        while True:
            if self.text[at : at + 1] != '"':
                raise self.fail("a key in double quotes is expected here", at)
            key, end = scanstring(self.text, at + 1, True)
            if key in result:
                raise self.fail(f"the key {key!r} stands twice in this object", at)
            self.lines[(*path, key)] = self.text.count("\n", 0, at) + 1
            at = self.skip(end)
            if self.text[at : at + 1] != ":":
                raise self.fail("':' is expected after the key", at)
            result[key], at = self.value(self.skip(at + 1), (*path, key))
            at = self.skip(at)
            mark = self.text[at : at + 1]
            if mark == "}":
                return result, at + 1
            if mark != ",":
                raise self.fail("',' or '}' is expected here", at)
            at = self.skip(at + 1)

    def elements(self, at: int, path: Path) -> tuple[list[Any], int]:
        result: list[Any] = []
        at = self.skip(at)
        if self.text[at : at + 1] == "]":
            return result, at + 1
        while True:
            item, at = self.value(self.skip(at), (*path, len(result)))
            result.append(item)
            at = self.skip(at)
            mark = self.text[at : at + 1]
            if mark == "]":
                return result, at + 1
            if mark != ",":
                raise self.fail("',' or ']' is expected here", at)
            at += 1


def parse(text: str) -> Document:
    """Parse JSON strictly.

    Raises
    ------
    json.JSONDecodeError
        with line and column, if the text is not JSON, has a key twice, or is nested more than 32 deep.
    """
    reader = _Reader(text)
    value, at = reader.value(reader.skip(0), ())
    at = reader.skip(at)
    if at != len(text):
        raise reader.fail("nothing may follow the document", at)
    return Document(value, reader.lines)
