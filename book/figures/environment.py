"""What this copy of the book was computed with."""

from __future__ import annotations

import platform
from importlib import metadata
from pathlib import Path
from typing import Final

from book.figures.table import Table

_PACKAGES: Final = (
    "numba", "llvmlite", "numpy", "simpy", "wasmtime", "anywidget", "ipywidgets", "matplotlib",
    "jupyter-book", "sphinx", "myst-nb", "sphinx-book-theme", "jupyterlab",
)


def processor() -> str:
    """The processor's name as the system gives it."""
    description = Path("/proc/cpuinfo")
    if description.exists():
        for line in description.read_text(errors="replace").splitlines():
            if line.lower().startswith(("model name", "hardware")):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()


def version(package: str) -> str:
    """An installed package's version, or that it is absent."""
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return "not installed"


def environment() -> Table:
    """Interpreter, system, processor and packages as a table."""
    rows = [
        ("Python", platform.python_version()),
        ("system", f"{platform.system()} on {platform.machine()}"),
        ("processor", processor()),
        *((package, version(package)) for package in _PACKAGES),
    ]
    return Table("What this copy was computed with", ["part", "version or name"], rows)
