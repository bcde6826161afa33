"""Runs the pages' notebooks, as many at a time as there are CPUs, before the builder reads them one by one.

The builder executes a notebook whose outputs it does not have.  Here they are put where it looks for them, so that it
finds them all.  A notebook that fails is left to the builder: it runs it once more and says what is wrong.
"""

from __future__ import annotations

import multiprocessing
import os
import queue
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import yaml
from jupyter_cache import get_cache
from jupyter_cache.base import CacheBundleIn
from jupyter_cache.executors.utils import single_nb_execution
from myst_nb.core.read import is_myst_markdown_notebook, read_myst_markdown_notebook
from nbformat import NotebookNode
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from sphinx_external_toc.parsing import parse_toc_yaml

from book._ext.receive_path_book.freshness import CACHE, code_hash

from .report import say

#: More kernels than this would need more memory than a small machine has: each takes some 400 MB.
MOST_AT_ONCE: Final = 4
#: A kernel says how it is reached, and grumbles when it is interrupted; neither is of use here.
QUIET: Final = "--IPKernelApp.log_level=50"
TOC: Final = Path("book/_toc.yml")


@dataclass(frozen=True)
class Job:
    """One notebook to run.

    Attributes
    ----------
    page
        Its file, absolute; it runs in that file's folder.
    cache
        Folder of kept outputs.
    timeout_s
        Longest time of one cell.
    """

    page: Path
    cache: Path
    timeout_s: int


def notebooks(root: Path) -> list[Path]:
    """The pages in the table of contents that are notebooks, in its order."""
    pages = [root / f"{name}.md" for name in parse_toc_yaml(root / TOC)]
    return [page for page in pages if page.exists() and is_myst_markdown_notebook(page.read_text(encoding="utf-8"))]


def missing(root: Path) -> list[Job]:
    """Notebooks whose outputs are not kept, or were made by other code."""
    settings = yaml.safe_load((root / "_config.yml").read_text(encoding="utf-8"))
    folder = root / "_build" / f"{CACHE}{code_hash(root)}"
    cache = get_cache(folder)
    found = []
    for page in notebooks(root):
        notebook = _read(page)
        try:
            cache.match_cache_notebook(notebook)
        except KeyError:
            longest = settings["execute"]["timeout"]
            found.append(Job(page, folder, notebook.metadata.get("mystnb", {}).get("execution_timeout", longest)))
    return found


def in_turn(found: list[Job]) -> list[Job]:
    """The first of those that ask for most time, since the others fit beside it, then the others as they come."""
    longest = max(found, key=lambda job: job.timeout_s)
    return [longest, *(job for job in found if job is not longest)]


def fill(root: Path, at_once: int | None = None) -> int:
    """Run what is missing and keep its outputs; return how many notebooks failed or were not reached.

    Interrupted, it leaves no kernel behind, and what has been run stays.
    """
    found = missing(root)
    if not found:
        return 0
    workers = min(at_once or os.cpu_count() or 1, MOST_AT_ONCE, len(found))
    say(f"running {len(found)} notebooks, {workers} at a time (the first time a few minutes)")
    context = multiprocessing.get_context("spawn")
    jobs, done = context.Queue(), context.Queue()
    for each in (*in_turn(found), *[None] * workers):
        jobs.put(each)
    with _importable(root):
        crew = [context.Process(target=_work, args=(jobs, done), daemon=True) for _ in range(workers)]
        for worker in crew:
            worker.start()
    kept = 0
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    # Without a terminal a bar would be one long line in a log.
    with Progress(*columns, console=Console(stderr=True), disable=not sys.stderr.isatty()) as progress:
        task = progress.add_task("notebooks", total=len(found))
        try:
            for _ in found:
                page, succeeded = _next(done, crew)
                kept += succeeded
                progress.update(task, advance=1, description=page)
        except _CrewGone:
            pass
        finally:
            for worker in crew:
                worker.terminate()  # ends its kernel too
            for worker in crew:
                worker.join()
    return len(found) - kept


class _CrewGone(Exception):
    """No worker is left: each was killed, or could not start."""


def _next(done: Any, crew: list[Any]) -> tuple[str, bool]:
    """The next notebook that ended, or that there will be none."""
    while True:
        alive = any(worker.is_alive() for worker in crew)
        try:
            found: tuple[str, bool] = done.get(timeout=1)
        except queue.Empty:
            if not alive:
                raise _CrewGone from None
        else:
            return found


@contextmanager
def _importable(root: Path) -> Iterator[None]:
    """Let kernels, which run in a page's folder, import the clone's modules."""
    before = os.environ.get("PYTHONPATH")
    os.environ["PYTHONPATH"] = f"{root}{os.pathsep}{before}" if before else str(root)
    try:
        yield
    finally:
        if before is None:
            del os.environ["PYTHONPATH"]
        else:
            os.environ["PYTHONPATH"] = before


def _work(jobs: Any, done: Any) -> None:
    """Run notebooks until there is none."""
    with suppress(KeyboardInterrupt):  # Ctrl-C reaches this process as well, and the first one says so
        while (job := jobs.get()) is not None:
            try:
                succeeded = _execute(job)
            except Exception:  # the builder meets it again and shows it
                succeeded = False
            done.put((job.page.stem, succeeded))


def _read(page: Path) -> NotebookNode:
    """A page as the builder reads it; which Markdown extensions are on does not change its cells."""
    return read_myst_markdown_notebook(page.read_text(encoding="utf-8"), add_source_map=True, path=page)


def _execute(job: Job) -> bool:
    """Run one notebook; keep its outputs if no cell fails."""
    notebook = _read(job.page)
    ran = single_nb_execution(
        notebook, cwd=str(job.page.parent), timeout=job.timeout_s, allow_errors=False, extra_arguments=[QUIET],
    )
    if ran.err is not None:
        return False
    bundle = CacheBundleIn(notebook, str(job.page), data={"execution_seconds": ran.time})
    get_cache(job.cache).cache_notebook_bundle(bundle, check_validity=False, overwrite=True)
    return True
