"""A clone of the project with a book of one page, to see what a change does to the page."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from book.build.places import ROOT

FRONT = """\
---
file_format: mystnb
kernelspec: {name: python3, display_name: Python 3}
---
# One page

```{code-cell} ipython3
"""


@dataclass
class OnePageBook:
    """A book of one page below ``root``, with its own ``sim`` and ``widgets``."""

    root: Path

    @classmethod
    def below(cls, folder: Path, code: str) -> OnePageBook:
        """Copy what a build needs and write the page with one cell."""
        for name in ("_config.yml", "requirements.txt", "constraints.txt"):
            shutil.copy(ROOT / name, folder / name)
        unwanted = shutil.ignore_patterns("__pycache__", "*.md")
        for name in ("book", "widgets", "sim"):
            shutil.copytree(ROOT / name, folder / name, ignore=unwanted)
        (folder / "chapters/one").mkdir(parents=True)
        (folder / "book/_toc.yml").write_text("format: jb-book\nroot: chapters/one/page\n")
        book = cls(folder)
        book.write(code)
        return book

    def write(self, code: str) -> None:
        """Replace the page's one cell."""
        (self.root / "chapters/one/page.md").write_text(f"{FRONT}{code}\n```\n")

    def put(self, name: str, source: str) -> None:
        """Write a module."""
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(source)

    def build(self) -> subprocess.CompletedProcess[str]:
        """Build it as ``make book`` does, whatever the outcome."""
        inherited = {key: value for key, value in os.environ.items() if key not in {"NUMBA_CACHE_DIR", "PYTHONPATH"}}
        inherited["RECEIVE_PATH_CACHE"] = str(self.root / "compiled")  # what this engine compiles is of no further use
        return subprocess.run(
            [sys.executable, "-m", "book.build.pages"],
            cwd=self.root,
            env=inherited,
            capture_output=True,
            text=True,
            check=False,
        )

    def html(self) -> str:
        """The built page."""
        return (self.root / "_build/html/chapters/one/page.html").read_text()

    def printed(self, name: str) -> str:
        """The number that the page's cell printed after ``name =``."""
        found = re.search(rf"{name} = (-?\d+)", self.html().split("cell_output", 1)[1])
        assert found, f"the page prints no {name}"
        return found[1]
