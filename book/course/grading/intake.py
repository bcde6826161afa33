"""Finds and reads what a student handed in, whatever it is: a file from a stranger, of bounded size."""

from __future__ import annotations

import json
import os
import stat
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

MOST_BYTES: Final = 160_000_000
LONGEST_SOURCE: Final = 200_000
SHOWN: Final = 80
PICTURES: Final = ("image/png", "image/jpeg")


class Unreadable(Exception):
    """Nothing can be run; the message says to the student why and what to do."""


@dataclass
class Cell:
    """A cell as it was handed in."""

    kind: str
    source: str
    grade_id: str = ""
    attachments: dict[str, dict[str, str]] = field(default_factory=dict)


@dataclass
class HandIn:
    """A notebook as it was handed in, reduced to what is used of it."""

    cells: list[Cell]
    language: str
    notes: list[str]


def shown(text: object) -> str:
    """Words of a stranger, fit for one line of a page."""
    line = "".join(c if c.isprintable() and c not in "<>&`*_[]\\" else "." for c in str(text))
    return line if len(line) <= SHOWN else line[: SHOWN - 3] + "..."


def take(folder: Path, assignment: str) -> HandIn:
    """Read the notebook in a student's folder for an assignment.

    Raises
    ------
    Unreadable
        if there is no notebook in it, or none that can be read.
    """
    if folder.is_symlink():
        raise Unreadable("What was handed in is a link to another place, not a folder. Hand in the notebook itself.")
    name = f"{assignment}.ipynb"
    notes: list[str] = []
    found = [path for path in sorted(folder.iterdir()) if path.suffix == ".ipynb"]
    if folder / name in found:
        path = folder / name
    elif len(found) == 1:
        path = found[0]
        notes.append(f"The file is named {shown(path.name)}; it was taken for {name}.")
    elif found:
        listed = ", ".join(shown(each.name) for each in found[:5])
        raise Unreadable(f"There are several notebooks, none named {name}: {listed}. Hand in one, by that name.")
    else:
        there = ", ".join(shown(each.name) for each in sorted(folder.iterdir())[:5] if each.name != "timestamp.txt")
        raise Unreadable(f"There is no notebook named {name}; there is {there or 'nothing'}.")
    return _reduced(_parsed(_text(path)), notes)


def _text(path: Path) -> bytes:
    try:
        # no links, and nothing that waits when it is opened
        number = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    except OSError:
        raise Unreadable("The file is a link to another place, or cannot be opened. Hand in the file itself.") from None
    status = os.fstat(number)
    if not stat.S_ISREG(status.st_mode):
        os.close(number)
        raise Unreadable("What was handed in is no file. Hand in the notebook itself.")
    with os.fdopen(number, "rb") as file:
        if status.st_size > MOST_BYTES:
            raise Unreadable(
                f"The file has {status.st_size / 1e6:,.0f} MB; at most {MOST_BYTES / 1e6:.0f} MB are read. "
                "Clear all outputs, save it, and hand it in again."
            )
        found = file.read(MOST_BYTES)
    if not found.strip():
        raise Unreadable("The file is empty. Save the notebook, look at it once more, and hand it in again.")
    return found


def _parsed(text: bytes) -> dict[str, Any]:
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        raise Unreadable(
            "The file is not a notebook: it cannot be read as one. A notebook from Jupyter's menu File > Download can."
        ) from None
    if not isinstance(found, dict) or not (isinstance(found.get("cells"), list) or "worksheets" in found):
        raise Unreadable("The file is not a notebook: it has no cells.")
    return found


def _reduced(found: dict[str, Any], notes: list[str]) -> HandIn:
    cells = found.get("cells")
    if not isinstance(cells, list):  # notebooks of before 2015
        sheets = found.get("worksheets")
        sheets = [sheet for sheet in sheets if isinstance(sheet, dict)] if isinstance(sheets, list) else []
        cells = [cell for sheet in sheets if isinstance(sheet.get("cells"), list) for cell in sheet["cells"]]
    reduced = [_cell(each) for each in cells if isinstance(each, dict)]
    if not reduced:
        raise Unreadable("The notebook has no cells.")
    if any(len(cell.source) > LONGEST_SOURCE for cell in reduced):
        notes.append(f"A cell had more than {LONGEST_SOURCE:,} characters; the rest of it was left out.")
        for cell in reduced:
            cell.source = cell.source[:LONGEST_SOURCE]
    spec = _inner(_inner(found, "metadata"), "kernelspec")
    language = str(spec.get("language") or _inner(_inner(found, "metadata"), "language_info").get("name") or "python")
    return HandIn(reduced, language, notes)


def _cell(found: dict[str, Any]) -> Cell:
    source = found.get("source", found.get("input", ""))
    if isinstance(source, list):
        source = "".join(line for line in source if isinstance(line, str))
    text = source.encode("utf-8", "replace").decode() if isinstance(source, str) else ""
    grade_id = _inner(_inner(found, "metadata"), "nbgrader").get("grade_id")
    kind = found.get("cell_type")
    pictures = {
        name: {mime: data for mime, data in parts.items() if mime in PICTURES and isinstance(data, str)}
        for name, parts in _inner(found, "attachments").items() if isinstance(parts, dict)
    }
    return Cell(
        kind if kind in ("code", "markdown") else "raw", text, grade_id if isinstance(grade_id, str) else "", pictures
    )


def _inner(found: dict[str, Any], name: str) -> dict[str, Any]:
    inner = found.get(name)
    return inner if isinstance(inner, dict) else {}
