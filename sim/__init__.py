"""A simulation of Linux's receive path: cores, cache lines, locks, queues and copies, in picoseconds.

>>> from sim import scenarios
>>> s = scenarios.load("tcp-5.17")
>>> after = s.run(defer_free=1, mtu=1500)

Importing the package points Numba's cache at a folder keyed on the source of `sim.engine`, where all compiled
functions are: Numba itself does not notice a change in another module that a compiled function calls.
"""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

__version__ = "0.1.0"
ROOT = Path(__file__).resolve().parent


def source_hash(folder: Path = ROOT / "engine") -> str:
    """First 16 hex digits of a SHA-256 over the names and bytes of a folder's Python files."""
    digest = hashlib.sha256()
    for path in sorted(folder.rglob("*.py")):
        digest.update(str(path.relative_to(folder)).encode() + b"\0" + path.read_bytes() + b"\0")
    return digest.hexdigest()[:16]


def _cache_folder() -> str:
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    base = Path(os.environ.get("RECEIVE_PATH_CACHE") or cache / "receive-path")
    return str(base / f"numba-{source_hash()}")


if "NUMBA_CACHE_DIR" not in os.environ:
    os.environ["NUMBA_CACHE_DIR"] = _cache_folder()
