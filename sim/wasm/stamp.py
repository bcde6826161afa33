"""What a compiled engine was made from: hashes and versions, kept in the module itself.

A stamp is JSON in a custom section, so that module and stamp cannot be separated, and a page can read it.
"""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Final

from sim import source_hash

from . import object as wasm_object

TITLE: Final = "receive-path"
HERE: Final = Path(__file__).resolve().parent
ENGINE: Final = HERE / "engine.wasm"
SOURCES: Final = HERE.parent / "engine"
COMPILER: Final = (HERE / "lower.py", HERE / "object.py")
REMEDY: Final = "run `python -m sim.wasm.compile`"


def current(sources: Path = SOURCES) -> dict[str, str]:
    """Hashes as they are now: of the engine's sources, and of the modules that make them WebAssembly."""
    compiler = hashlib.sha256(b"\0".join(path.read_bytes() for path in COMPILER)).hexdigest()
    return {"sources": source_hash(sources), "compiler": compiler[:16]}


def encode(stamp: dict[str, str]) -> bytes:
    """A stamp as the custom section holds it."""
    return json.dumps(stamp, sort_keys=True, separators=(",", ":")).encode()


def read(module: bytes) -> dict[str, str]:
    """The stamp of a module; empty if it has none."""
    payload = wasm_object.custom(module, TITLE)
    if payload is None:
        return {}
    return {str(key): str(value) for key, value in json.loads(payload).items()}


def complaint(path: Path = ENGINE, sources: Path = SOURCES) -> str | None:
    """Why the module at `path` is not that of the sources, in one line; None if it is."""
    if not path.exists():
        return f"{path.name} is missing: {REMEDY}"
    try:
        found = read(path.read_bytes())
    except ValueError as error:
        return f"{path.name} is damaged ({error}): {REMEDY}"
    now = current(sources)
    changed = [key for key in now if found.get(key) != now[key]]
    if changed:
        what = {"sources": f"sim/{sources.name}", "compiler": "sim/wasm/lower.py or object.py"}
        return f"{path.name} is stale, {' and '.join(what[key] for key in changed)} changed since: {REMEDY}"
    return None
