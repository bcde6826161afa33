"""Cases for the page's host under node, and the same cases on any engine in Python."""

from __future__ import annotations

import hashlib
import json
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

Words = npt.NDArray[np.int64]
Slice = tuple[int, int | None, bool]  # steps, a new time to run to, whether to reset statistics afterwards

HERE = Path(__file__).parent
HOST = HERE.parents[2] / "widgets" / "js" / "engine.mjs"


class Engine(Protocol):
    def build(self, spec: Words) -> Words: ...
    def run(self, arena: Words, steps: int) -> int: ...
    def reset(self, arena: Words) -> object: ...


def in_page(
    node: str, module: Path, specs: Sequence[Words], slices: Sequence[Slice], until_word: int, folder: Path
) -> dict[str, Any]:
    """What `run_engine.mjs` prints for a case."""
    case = folder / "case.json"
    texts = [[str(word) for word in spec] for spec in specs]
    case.write_text(json.dumps({"specs": texts, "slices": slices, "until_word": until_word}))
    command = [node, str(HERE / "run_engine.mjs"), str(HOST), str(module), str(case)]
    done = subprocess.run(command, check=True, capture_output=True, text=True, timeout=120)
    answer: dict[str, Any] = json.loads(done.stdout)
    return answer


def in_python(engine: Engine, spec: Words, slices: Sequence[Slice], until_word: int) -> dict[str, Any]:
    """The same for one spec on an engine in Python."""
    arena = engine.build(spec)
    out: dict[str, Any] = {"words": len(arena), "built": digest(arena), "statuses": [], "hashes": []}
    for steps, until, reset in slices:
        if until is not None:
            arena[until_word] = until
        out["statuses"].append(engine.run(arena, steps))
        if reset:
            engine.reset(arena)
        out["hashes"].append(digest(arena))
    return out


def digest(arena: Words) -> str:
    """SHA-256 of an arena's bytes."""
    return hashlib.sha256(arena.tobytes()).hexdigest()
