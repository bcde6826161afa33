"""Packs the built pages as an archive that anyone can check: a manifest inside, a checksum beside it.

The same pages give the same archive, byte for byte: names are sorted, and neither times nor owners are kept.
"""

from __future__ import annotations

import gzip
import hashlib
import io
import re
import subprocess
import tarfile
from pathlib import Path

from .places import BUILD, HTML, ROOT
from .report import Refusal, run, say

FOLDER = BUILD / "release"
MANIFEST = "MANIFEST.txt"
#: Beside the pages: how to cite, and under which terms.
TERMS = ("CITATION.cff", "LICENSE")
#: Sphinx's own notes on a build, of no use to a reader.
LEFT_OUT = {".buildinfo", ".buildinfo.bak", ".nojekyll", "objects.inv.bak"}


def version(root: Path = ROOT) -> str:
    """The release's number, as the project's metadata states it."""
    found = re.search(r'^version = "([^"]+)"', (root / "pyproject.toml").read_text(encoding="utf-8"), re.MULTILINE)
    if not found:
        raise Refusal("pyproject.toml states no version")
    return found[1]


def commit(root: Path = ROOT) -> str:
    """The commit that the pages were built from, marked if the clone holds changes; a word where there is no git."""
    asked = subprocess.run(
        ["git", "describe", "--always", "--abbrev=40", "--dirty", "--exclude", "*"],
        cwd=root, capture_output=True, text=True, check=False,
    )
    return asked.stdout.strip() or "unknown"


def contents(html: Path, root: Path = ROOT) -> dict[str, bytes]:
    """Files of the archive by name, in order."""
    if not (html / "index.html").exists():
        raise Refusal("there are no pages to pack: make book")
    found = {
        path.relative_to(html).as_posix(): path.read_bytes()
        for path in html.rglob("*")
        if path.is_file() and path.name not in LEFT_OUT
    }
    found.update({name: (root / name).read_bytes() for name in TERMS})
    return dict(sorted(found.items()))


def manifest(files: dict[str, bytes]) -> bytes:
    """A checksum and a name a line, as ``sha256sum -c`` reads them."""
    return "".join(f"{hashlib.sha256(data).hexdigest()}  {name}\n" for name, data in files.items()).encode()


def packed(files: dict[str, bytes], top: str) -> bytes:
    """A compressed archive with all files below one folder."""
    raw = io.BytesIO()
    with tarfile.open(fileobj=raw, mode="w", format=tarfile.PAX_FORMAT) as archive:
        for name, data in files.items():
            entry = tarfile.TarInfo(f"{top}/{name}")
            entry.size, entry.mode = len(data), 0o644
            archive.addfile(entry, io.BytesIO(data))
    out = io.BytesIO()
    with gzip.GzipFile(fileobj=out, mode="wb", filename="", mtime=0) as compressed:
        compressed.write(raw.getvalue())
    return out.getvalue()


def release(html: Path = HTML, folder: Path = FOLDER) -> Path:
    """Write archive, checksum and manifest; return the archive."""
    top = f"receive-path-{version()}"
    files = contents(html)
    files[MANIFEST] = manifest(files)
    data = packed(files, top)
    folder.mkdir(parents=True, exist_ok=True)
    archive = folder / f"{top}.tar.gz"
    archive.write_bytes(data)
    checksum = f"{hashlib.sha256(data).hexdigest()}  {archive.name}\n"
    (folder / f"{archive.name}.sha256").write_text(checksum, encoding="utf-8")
    head = f"# The Receive Path {version()}, built from commit {commit()}: {len(files)} files in {archive.name}\n"
    (folder / MANIFEST).write_bytes(head.encode() + files[MANIFEST])
    return archive


def main() -> None:
    """Pack the pages and say how to check them."""
    archive = release()
    say(f"{archive.relative_to(ROOT)}, {archive.stat().st_size / 1e6:.1f} MB")
    say(f"to check it: cd {archive.parent.relative_to(ROOT)} && sha256sum -c {archive.name}.sha256")


if __name__ == "__main__":
    run(main)
