"""Executed outputs that are never stale.

The executor keeps the outputs of a notebook whose cells are the same as last time; it does not see that a
module which the cells call has changed.  So the folder that it keeps them in is named after a hash of
all that a cell can reach, and Sphinx reads every page again when that hash is another one.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import sys
from pathlib import Path

from sphinx.application import Sphinx
from sphinx.config import Config

ROOT = Path(__file__).resolve().parents[3]
CACHE = ".jupyter_cache-"
ROOMS = ("sim", "widgets", "chapters", "book")
# A page's own text is compared by the executor, cell by cell; no cell reads the builder's own files.
PAGES = {".md", ".ipynb", ".bib", ".yml"}
BUILDER = {"_ext", "build", "static", "vendor"}


def reachable(root: Path) -> list[Path]:
    """Files other than pages that a cell can import or read, in a fixed order."""
    found = [root / "requirements.txt", root / "constraints.txt"]
    found += (root / "tests/sim/scenarios").glob("example_*.py")  # what a page shows and runs is tested there
    for room in ROOMS:
        for path in (root / room).rglob("*"):
            parts = path.relative_to(root).parts
            hidden = any(part.startswith((".", "__pycache__")) for part in parts)
            prose = room in ("chapters", "book") and (path.suffix in PAGES or parts[1] in BUILDER)
            if path.is_file() and not hidden and not prose:
                found.append(path)
    return sorted(path for path in found if path.exists())


def code_hash(root: Path = ROOT) -> str:
    """Hash of the files that :func:`reachable` finds and of the Python that runs the cells."""
    digest = hashlib.sha256(sys.version.encode())
    for path in reachable(root):
        digest.update(f"{path.relative_to(root)}\0".encode())
        digest.update(hashlib.sha256(path.read_bytes()).digest())
    return digest.hexdigest()[:16]


def builder_hash(root: Path = ROOT) -> str:
    """Hash of the extension and the styles, which change every page and run no notebook."""
    digest = hashlib.sha256()
    for room in ("_ext", "static"):
        for path in sorted((root / "book" / room).rglob("*")):
            if path.is_file() and "__pycache__" not in path.parts:
                digest.update(path.name.encode() + b"\0" + hashlib.sha256(path.read_bytes()).digest())
    return digest.hexdigest()[:16]


def prepare(app: Sphinx, config: Config) -> None:
    """Give kernels an absolute import path and key the folder of kept outputs."""
    # Kernels inherit the environment, and they run in the page's folder: the path has to be absolute.
    before = os.environ.get("PYTHONPATH")
    os.environ["PYTHONPATH"] = f"{ROOT}{os.pathsep}{before}" if before else str(ROOT)
    if str(ROOT) not in sys.path:
        sys.path.insert(0, str(ROOT))
    config.receive_path_code = code_hash()
    config.receive_path_builder = builder_hash()
    folder = Path(app.outdir).parent / f"{CACHE}{config.receive_path_code}"
    config.nb_execution_cache_path = str(folder)
    for old in folder.parent.glob(f"{CACHE}*"):
        if old != folder:
            shutil.rmtree(old, ignore_errors=True)


def connect(app: Sphinx) -> None:
    """Run before myst-nb looks at its configuration."""
    app.add_config_value("receive_path_code", "", "env", types=[str])
    app.add_config_value("receive_path_builder", "", "env", types=[str])
    app.connect("config-inited", prepare, priority=100)
