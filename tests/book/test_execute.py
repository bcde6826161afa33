"""Notebooks that run before the pages are read: which, where their outputs go, and what a failed one leaves."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest
from jupyter_cache import get_cache

from book._ext.receive_path_book.freshness import CACHE, code_hash
from book.build import execute
from book.build.places import ROOT

PAGE = "---\nfile_format: mystnb\nkernelspec: {{name: python3, display_name: Python 3}}\n---\n# {title}\n\n{cells}"
CELL = "```{{code-cell}} ipython3\n{source}\n```\n\n"


def page(title: str, *sources: str) -> str:
    """A page with cells."""
    return PAGE.format(title=title, cells="".join(CELL.format(source=source) for source in sources))


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    """A book of a page of prose and two notebooks."""
    (tmp_path / "book").mkdir()
    (tmp_path / "_config.yml").write_text("execute: {timeout: 60}\n")
    (tmp_path / "book/_toc.yml").write_text("format: jb-book\nroot: prose\nchapters: [{file: one}, {file: two}]\n")
    (tmp_path / "prose.md").write_text("# Prose\n")
    (tmp_path / "one.md").write_text(page("One", "import beside; beside.value", "from pathlib import Path; Path.cwd()"))
    (tmp_path / "two.md").write_text(page("Two", "1 + 1"))
    (tmp_path / "beside.py").write_text("value = 41\n")
    return tmp_path


def kept(clone: Path) -> dict[str, str]:
    """What the builder would find: the cells' results by page."""
    cache = get_cache(clone / "_build" / f"{CACHE}{code_hash(clone)}")
    found = {}
    for record in cache.list_cache_records():
        cells = cache.get_cache_bundle(record.pk).nb.cells
        results = [cell.outputs[0].data["text/plain"] for cell in cells if "outputs" in cell]
        found[Path(record.uri).name] = " ".join(results)
    return found


def kernels(folder: Path) -> list[int]:
    """Processes that work in a folder."""
    return [process.pid for process in psutil.process_iter(["cwd"]) if process.info["cwd"] == str(folder)]


def test_only_notebooks_of_the_contents_run_in_their_order(clone: Path) -> None:
    (clone / "astray.md").write_text(page("Astray", "1"))
    assert [path.name for path in execute.notebooks(clone)] == ["one.md", "two.md"]


def test_every_notebook_of_the_book_is_found() -> None:
    found = {path.relative_to(ROOT).as_posix() for path in execute.notebooks(ROOT)}
    cells = {p.relative_to(ROOT).as_posix() for room in ("book", "chapters") for p in (ROOT / room).rglob("*.md")
             if "\n```{code-cell}" in p.read_text() and "course/source" not in p.as_posix()}
    assert cells <= found


def test_outputs_are_kept_once_and_cells_import_what_lies_in_the_clone(clone: Path) -> None:
    assert execute.fill(clone) == 0
    assert kept(clone) == {"one.md": f"41 PosixPath({str(clone)!r})", "two.md": "2"}
    assert execute.missing(clone) == []
    (clone / "two.md").write_text(page("Two, other words", "1 + 1"))
    assert execute.missing(clone) == []
    (clone / "two.md").write_text(page("Two", "1 + 2"))
    assert [job.page.name for job in execute.missing(clone)] == ["two.md"]


def test_a_page_may_ask_for_a_longer_time_and_starts_first(clone: Path) -> None:
    asked = "file_format: mystnb\nmystnb: {execution_timeout: 900}\n"
    (clone / "two.md").write_text((clone / "two.md").read_text().replace("file_format: mystnb\n", asked))
    found = execute.missing(clone)
    assert [job.timeout_s for job in found] == [60, 900]
    assert [job.page.stem for job in execute.in_turn(found)] == ["two", "one"]


@pytest.mark.slow
def test_a_failed_notebook_is_left_to_the_builder_and_the_others_are_kept(clone: Path) -> None:
    (clone / "one.md").write_text(page("One", "raise ValueError"))
    assert execute.fill(clone) == 1
    assert set(kept(clone)) == {"two.md"}


@pytest.mark.slow
def test_a_notebook_that_kills_its_kernel_does_not_stop_the_rest(clone: Path) -> None:
    (clone / "one.md").write_text(page("One", "import os; os._exit(3)"))
    assert execute.fill(clone, at_once=1) == 1
    assert set(kept(clone)) == {"two.md"}


@pytest.mark.slow
def test_interrupted_it_keeps_what_has_run_and_leaves_no_kernel(clone: Path) -> None:
    (clone / "two.md").write_text(page("Two", "open('started', 'w').close()\nimport time; time.sleep(600)"))
    code = f"from pathlib import Path; from book.build.execute import fill; fill(Path({str(clone)!r}), 1)"
    run = subprocess.Popen([sys.executable, "-c", code], cwd=ROOT, stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                           preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler))
    started = clone / "started"
    for _ in range(600):
        if started.exists():
            break
        time.sleep(0.1)
    assert started.exists()
    os.kill(run.pid, signal.SIGINT)
    run.wait(timeout=30)
    assert set(kept(clone)) == {"one.md"}
    for _ in range(100):
        if not kernels(clone):
            break
        time.sleep(0.1)
    assert kernels(clone) == []
