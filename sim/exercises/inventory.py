"""What a released notebook says of itself: which cells belong to it, so that somebody can see what is missing.

It stands in the notebook's own metadata, which notebook programs keep. Only the student is served by it; a grader
has the original.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Any, Final

KEY: Final = "receive_path"


def fingerprint(source: str) -> str:
    """A short hash of a cell's text, white space at the ends of lines aside."""
    text = "\n".join(line.rstrip() for line in source.strip().splitlines())
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def grade_id(cell: Mapping[str, Any]) -> str:
    """A cell's name in nbgrader; empty for a cell without one."""
    marks = _mapping(_mapping(cell.get("metadata")).get("nbgrader"))
    name = marks.get("grade_id")
    return name if isinstance(name, str) else ""


def inventory(assignment: str, cells: list[Any]) -> dict[str, Any]:
    """The entry for a notebook's metadata.

    A cell that a student may not change has the hash of its text; an essay's has none, since its text is cut when
    it is released.
    """
    entries = []
    for cell in cells:
        if not grade_id(cell):
            continue
        marks = cell["metadata"]["nbgrader"]
        fixed = marks.get("locked") and not marks.get("task")
        entries.append({
            "name": grade_id(cell), "type": cell["cell_type"], "graded": bool(marks.get("grade")),
            "hash": fingerprint(cell["source"]) if fixed else "",
        })
    return {"assignment": assignment, "cells": entries}  # a list: notebooks are written with keys sorted


def read(metadata: object) -> tuple[str, dict[str, dict[str, Any]]]:
    """Assignment and cells from a notebook's metadata; empty if they are not there, or not as they should be."""
    found = _mapping(_mapping(metadata).get(KEY))
    name = found.get("assignment")
    listed = found.get("cells")
    cells = {
        entry["name"]: dict(entry)
        for entry in (listed if isinstance(listed, list) else [])
        if isinstance(entry, Mapping) and isinstance(entry.get("name"), str)
    }
    return (name, cells) if isinstance(name, str) else ("", {})


def _mapping(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}
