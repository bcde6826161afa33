"""Copies of the native engine: one in which the trace ring can never be written, and one that is the same.

What the ring costs while it is off is the difference to the first; the second shows how much two builds of one source
differ by where they come to lie. They lie beside the compiled engine and are compiled once for each state of it.
"""

from __future__ import annotations

import importlib
import os
import sys
from pathlib import Path
from typing import Any

from sim import ROOT

WITHOUT, SAME = "untraced_engine", "copied_engine"
ASKED = "if tracing > 0:"
NEVER = "if False:"


def without_trace(source: str) -> str:
    """The source of `sim.engine.run` without the ring; raises ValueError if the place is not there."""
    if source.count(ASKED) != 1:
        raise ValueError(f"sim/engine/run.py has not one line {ASKED!r}, but {source.count(ASKED)}")
    return source.replace(ASKED, NEVER)


def write(folder: Path, package: str) -> None:
    """Write a copy; what is there already stays, so that Numba finds its own work again."""
    for path in (ROOT / "engine").glob("*.py"):
        text = path.read_text(encoding="utf-8")
        if package == WITHOUT and path.name == "run.py":
            text = without_trace(text)
        copy = folder / package / path.name
        copy.parent.mkdir(parents=True, exist_ok=True)
        if not copy.exists():
            copy.write_text(text, encoding="utf-8")


def engine(package: str) -> Any:
    """A native engine out of a copy."""
    folder = Path(os.environ["NUMBA_CACHE_DIR"]) / "bench"
    write(folder, package)
    sys.path.insert(0, str(folder))
    try:
        return importlib.import_module(f"{package}.native").NativeEngine()
    finally:
        sys.path.remove(str(folder))
