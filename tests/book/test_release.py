"""A release can be checked by anyone, and the same pages make the same archive."""

from __future__ import annotations

import hashlib
import os
import subprocess
import tarfile
from pathlib import Path

import pytest

from book.build import release
from book.build.places import ROOT
from book.build.report import Refusal


def pages(folder: Path, later: int = 0) -> Path:
    """A built book of three files, written at one time or at another, in one order or in the other."""
    files = {"index.html": "<p>cover", "book/a.html": "<p>a", ".buildinfo": f"run {later}"}
    for name in list(files)[:: -1 if later else 1]:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(files[name])
        os.utime(path, (1_000_000_000 + later, 1_000_000_000 + later))
        path.chmod(0o600 if later else 0o644)
    return folder


def test_the_same_pages_make_the_same_archive_whenever_and_by_whomever_they_were_written(tmp_path: Path) -> None:
    first, second = (
        release.release(pages(tmp_path / f"html{later}", later), tmp_path / f"out{later}").read_bytes()
        for later in (0, 86_400)
    )
    assert first == second


def test_a_changed_page_makes_another_archive(tmp_path: Path) -> None:
    html = pages(tmp_path / "html")
    before = release.release(html, tmp_path / "out").read_bytes()
    (html / "book/a.html").write_text("<p>b")
    assert release.release(html, tmp_path / "out").read_bytes() != before


def test_manifest_and_checksum_are_what_sha256sum_reads(tmp_path: Path) -> None:
    archive = release.release(pages(tmp_path / "html"), tmp_path / "out")
    checked = subprocess.run(
        ["sha256sum", "--strict", "-c", f"{archive.name}.sha256"], cwd=archive.parent, capture_output=True, text=True,
        check=False,
    )
    assert checked.stdout == f"{archive.name}: OK\n", checked.stderr
    with tarfile.open(archive) as packed:
        packed.extractall(tmp_path / "unpacked", filter="data")
    inside = tmp_path / "unpacked" / f"receive-path-{release.version()}"
    listed = subprocess.run(
        ["sha256sum", "--strict", "-c", release.MANIFEST], cwd=inside, capture_output=True, text=True, check=False
    )
    names = {"index.html", "book/a.html", *release.TERMS}
    assert set(listed.stdout.splitlines()) == {f"{name}: OK" for name in names}
    present = {path.relative_to(inside).as_posix() for path in inside.rglob("*") if path.is_file()}
    assert present == names | {release.MANIFEST}


def test_the_manifest_beside_the_archive_names_version_and_commit(tmp_path: Path) -> None:
    release.release(pages(tmp_path / "html"), tmp_path / "out")
    head = (tmp_path / "out" / release.MANIFEST).read_text().splitlines()[0]
    assert head.startswith(f"# The Receive Path {release.version()}, built from commit {release.commit()}: 5 files")


def test_without_pages_there_is_no_release(tmp_path: Path) -> None:
    with pytest.raises(Refusal, match="there are no pages to pack: make book"):
        release.release(tmp_path, tmp_path / "out")


def test_version_and_citation_agree() -> None:
    assert f"\nversion: {release.version()}\n" in (ROOT / "CITATION.cff").read_text(encoding="utf-8")


def test_an_archive_s_checksum_is_its_own(tmp_path: Path) -> None:
    archive = release.release(pages(tmp_path / "html"), tmp_path / "out")
    stated = (tmp_path / "out" / f"{archive.name}.sha256").read_text().split()[0]
    assert stated == hashlib.sha256(archive.read_bytes()).hexdigest()
