"""The compiled engine: whether this computer has it, and compiling it ahead.

Numba keeps machine code under ``NUMBA_CACHE_DIR``, which `sim` keys on the engine's source, apart for each
copy of the project; an index says which functions are there. Compiling takes up to half a minute, once: whoever
waits for it is told.
"""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path
from typing import Any

NOTICE = "compiling the engine for this computer: up to 30 s, once"


def ready() -> bool:
    """Whether the engine need not be compiled: it is in the cache, or it runs as plain Python."""
    if os.environ.get("NUMBA_DISABLE_JIT", "0") not in ("", "0"):
        return True
    from .engine import entry

    dispatcher: Any = entry
    if dispatcher.signatures:  # compiled or loaded in this process
        return True
    try:  # no public question asks Numba whether its cache holds a function
        return bool(dispatcher._cache._cache_file._load_index())
    except (AttributeError, OSError):
        return any(Path(os.environ["NUMBA_CACHE_DIR"]).glob("**/*.entry-*.nbi"))


def announce() -> bool:
    """Say on standard error that the next run compiles first; whether that was so."""
    if ready():
        return False
    print(NOTICE, file=sys.stderr, flush=True)
    return True


def compile_ahead() -> float:
    """Compile what is not in the cache, by a run of a few instructions; return the seconds it took."""
    started = time.perf_counter()
    from . import scenarios
    from .engine.native import NativeEngine

    scenario = scenarios.load(scenarios.names()[0])
    engine = NativeEngine()
    arena = engine.build(scenario.image())
    engine.run(arena, 1)
    engine.reset(arena)
    return time.perf_counter() - started
