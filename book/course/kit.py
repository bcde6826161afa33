"""``python -m book.course kit DIR``: packs what students get, as one archive that needs no clone.

The released notebooks, the simulation, its widgets, the exact releases of what they need, and how to begin. Neither
sources of assignments nor checks are in it.
"""

from __future__ import annotations

import argparse
import re
import zipfile
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from ..build.places import BUILD, CONSTRAINTS, REQUIREMENTS, ROOT
from ..build.report import Refusal, say

TOP: Final = "receive-path-course"
ARCHIVE: Final = BUILD / f"{TOP}.zip"
PACKAGES: Final = ("sim", "widgets")
TERMS: Final = ("LICENSE", "CITATION.cff")
SUFFIXES: Final = {".py", ".json", ".wasm", ".mjs", ".css", ".md", ".typed"}
#: Of the project's pinned requirements, what the assignments need.
NEEDED: Final = (
    "numba", "llvmlite", "numpy", "simpy", "matplotlib", "jsonschema", "rich", "ipywidgets", "anywidget", "jupyterlab",
    "nbclient", "dpkt",
)
STAMP: Final = (2026, 1, 1, 0, 0, 0)  # an archive of the same files is the same archive

_README: Final = """\
# The Receive Path: your course kit

You need Python 3.11, 3.12 or 3.13 and 1 GB of disk.

    python -m venv .venv
    .venv/bin/pip install -r requirements.txt        on Windows: .venv\\Scripts\\pip
    .venv/bin/python -m sim compile                  once; it takes up to a minute
    .venv/bin/jupyter lab

Assignments: {names}. Open one, and put the student id that your course gave you into its first cells: your numbers
follow from it. Work in the cells that invite you to; the others are put back before grading. Keep the notebooks in this
folder, beside `sim`.

Before you hand a notebook in:

    .venv/bin/python -m sim.exercises.presubmit NAME.ipynb --student YOUR-ID

It tells what would cost points by accident: missing, copied or edited cells, errors, cells that take too long, somebody
else's numbers. Whether your answers are right it cannot know; the checks are not here.
"""


def command(parser: argparse.ArgumentParser) -> None:
    """Options."""
    parser.add_argument("folder", type=Path, metavar="DIR", help="the course directory, with released assignments")
    parser.add_argument("names", nargs="*", metavar="NAME", help="assignments (default: all that are released)")
    parser.add_argument("--out", type=Path, default=ARCHIVE, help="the archive (default: %(default)s)")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Pack, and say where."""
    written = pack(options.folder, options.names, options.out)
    say(f"{written}, {written.stat().st_size / 1e6:.1f} MB: give it to students")
    return 0


def pack(folder: Path, names: Sequence[str] = (), out: Path = ARCHIVE) -> Path:
    """Write the archive.

    Raises
    ------
    Refusal
        if nothing has been released, or not an assignment that was asked for.
    """
    files = contents(folder, names)
    out.parent.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in sorted(files.items()):
            entry = zipfile.ZipInfo(f"{TOP}/{name}", STAMP)
            entry.external_attr = 0o644 << 16
            entry.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(entry, data)
    return out


def contents(folder: Path, names: Sequence[str] = ()) -> dict[str, bytes]:
    """What is in the archive, by name. Raises Refusal as `pack` does."""
    released = {path.stem: path for path in (folder / "release").glob("*/*.ipynb") if path.stem == path.parent.name}
    if not released:
        raise Refusal(f"nothing is released in {folder}: python -m book.course generate {folder}")
    wanted = list(names) or sorted(released)
    if missing := [name for name in wanted if name not in released]:
        raise Refusal(f"{missing[0]} is not released in {folder}; there are {', '.join(sorted(released))}")
    files = {f"{name}.ipynb": released[name].read_bytes() for name in wanted}
    for package in PACKAGES:
        for path in (ROOT / package).rglob("*"):
            if path.suffix in SUFFIXES and "__pycache__" not in path.parts:
                files[path.relative_to(ROOT).as_posix()] = path.read_bytes()
    files |= {name: (ROOT / name).read_bytes() for name in TERMS}
    files |= {f"LICENSES/{path.name}": path.read_bytes() for path in (ROOT / "LICENSES").iterdir()}
    files["requirements.txt"] = f"-c {CONSTRAINTS.name}\n{requirements()}".encode()  # so is what they bring along
    files[CONSTRAINTS.name] = CONSTRAINTS.read_bytes()
    files["README.md"] = _README.format(names=", ".join(wanted)).encode()
    return files


def requirements() -> str:
    """The pinned releases of what the assignments need, one a line. Raises Refusal if one is not pinned."""
    pins = dict(re.findall(r"^([\w.-]+)==([\w.]+)", REQUIREMENTS.read_text(encoding="utf-8"), re.MULTILINE))
    if missing := [name for name in NEEDED if name not in pins]:
        raise Refusal(f"requirements.txt does not pin {missing[0]}")
    return "".join(f"{name}=={pins[name]}\n" for name in NEEDED)
