"""Files that a command writes: all of a file or nothing, and a mistake in its name is found before the work."""

from __future__ import annotations

import sys
from pathlib import Path


def writable(path: Path) -> None:
    """Raise ValueError if the folder of a file to write does not exist."""
    folder = path.resolve().parent
    if not folder.is_dir():
        raise ValueError(f"{path}: there is no folder {folder}")


def write(path: Path, text: str) -> None:
    """Write a file; an interrupted write leaves the old one."""
    unfinished = path.with_name(path.name + ".unfinished")
    try:
        unfinished.write_text(text, encoding="utf-8")
        unfinished.replace(path)
    finally:
        unfinished.unlink(missing_ok=True)
    print(f"written to {path}", file=sys.stderr)
