"""Programs with one fault each, for students to find: finished texts, and nothing that tells the fault.

>>> from sim.exercises.faulty import texts
>>> texts("tcp-prequeue")[0].splitlines()[0]
'routine park'
"""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Final

TEXTS: Final = Path(__file__).with_name("faulty.json")


@cache
def texts(assignment: str) -> tuple[str, ...]:
    """The faulty programs of an assignment; KeyError with the names there are if it has none."""
    found: dict[str, list[list[str]]] = json.loads(TEXTS.read_text(encoding="utf-8"))
    if assignment not in found:
        raise KeyError(f"{assignment} has no faulty programs; there are {', '.join(found)}")
    return tuple("\n".join(lines) for lines in found[assignment])
