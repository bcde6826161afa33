"""Keeps results under what they follow from, so that a grading that was interrupted goes on where it stopped.

A file is there with all of its content or not at all: it is written beside its place and then renamed. A result is
looked up by a hash of everything that it depends on, so none can be stale.
"""

from __future__ import annotations

import contextlib
import gzip
import hashlib
import json
import os
import tempfile
from pathlib import Path
from typing import Any


def key(*parts: Any) -> str:
    """First 32 hex digits of a SHA-256 over JSON data."""
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()[:32]


def tree(*folders: Path) -> str:
    """Hash of the Python and data files below some folders."""
    digest = hashlib.sha256()
    for folder in folders:
        for path in sorted(folder.rglob("*")):
            if path.suffix in (".py", ".json") and path.is_file():
                digest.update(path.relative_to(folder).as_posix().encode() + b"\0" + path.read_bytes() + b"\0")
    return digest.hexdigest()[:32]


def write(path: Path, data: bytes) -> None:
    """Write a file so that nobody ever sees a part of it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    number, beside = tempfile.mkstemp(dir=path.parent, prefix=".part-")
    try:
        with os.fdopen(number, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        Path(beside).chmod(0o644)
        Path(beside).replace(path)
    except BaseException:
        with contextlib.suppress(OSError):
            Path(beside).unlink()
        raise


def put(folder: Path, kind: str, name: str, data: Any) -> None:
    """Keep JSON data."""
    write(_place(folder, kind, name), gzip.compress(json.dumps(data).encode(), mtime=0))


def get(folder: Path, kind: str, name: str) -> Any | None:
    """What was kept; None if nothing was, or if it cannot be read."""
    try:
        return json.loads(gzip.decompress(_place(folder, kind, name).read_bytes()))
    except (OSError, ValueError, EOFError):
        return None


def forget(folder: Path, kind: str, name: str) -> None:
    """Drop what was kept."""
    _place(folder, kind, name).unlink(missing_ok=True)


def _place(folder: Path, kind: str, name: str) -> Path:
    return folder / kind / name[:2] / f"{name}.json.gz"
