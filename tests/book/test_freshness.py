"""Stale outputs cannot happen, and a failing cell fails the build."""

from __future__ import annotations

from pathlib import Path

import pytest
from receive_path_book.freshness import builder_hash, code_hash, reachable

from book.build.places import ROOT
from tests.book.onepage import OnePageBook

INNER = "number = {number}\n"
OUTER = "from sim import one_inner\n\n\ndef answer() -> int:\n    return one_inner.number\n"
JITTED_INNER = """\
from sim.engine.jit import kernel

NUMBER = {number}


@kernel
def inner(value):
    return value + NUMBER
"""
JITTED_OUTER = """\
from sim.engine.jit import kernel
from sim.engine.one_inner import inner


@kernel
def outer(value):
    return inner(value)
"""
CALLS = """\
from sim.engine.one_outer import outer
from sim.one_outer import answer

print("plain =", answer())
print("jitted =", outer(0))
"""


@pytest.mark.slow
def test_a_constant_in_a_module_that_another_calls_changes_the_page(tmp_path: Path) -> None:
    """The page and the calling modules stay as they are; both caches would keep the old number."""
    book = OnePageBook.below(tmp_path, CALLS)
    book.put("sim/one_outer.py", OUTER)
    book.put("sim/engine/one_outer.py", JITTED_OUTER)
    for number in (41, 42):
        book.put("sim/one_inner.py", INNER.format(number=number))
        book.put("sim/engine/one_inner.py", JITTED_INNER.format(number=number))
        done = book.build()
        assert done.returncode == 0, done.stdout + done.stderr
        assert (book.printed("plain"), book.printed("jitted")) == (str(number), str(number))
        assert len(list(tmp_path.glob("_build/.jupyter_cache-*"))) == 1, "outputs of older code are kept"


@pytest.mark.slow
def test_a_failing_cell_fails_the_build_every_time(tmp_path: Path) -> None:
    book = OnePageBook.below(tmp_path, "1 / 0")
    for attempt in ("first", "second"):
        done = book.build()
        assert done.returncode != 0, attempt
        assert "ZeroDivisionError" in done.stdout, attempt
        assert not (tmp_path / "_build/html").exists(), "a page of a failed build is left"
    book.write('print("mended = 1")')
    assert book.build().returncode == 0
    assert book.printed("mended") == "1"


@pytest.mark.slow
@pytest.mark.parametrize(
    "fault",
    ['import sys; print("careful", file=sys.stderr)', "1\n```\n\n{ref}`nowhere`\n\n```{note}\nx"],
    ids=["a cell's warning", "a broken link"],
)
def test_a_warning_fails_the_build(tmp_path: Path, fault: str) -> None:
    assert OnePageBook.below(tmp_path, fault).build().returncode != 0


@pytest.mark.parametrize(
    "name",
    [
        "sim/engine/deep.py",
        "widgets/js/a.mjs",
        "chapters/one/data.json",
        "book/course/c.py",
        "book/figures/f.py",
        "requirements.txt",
    ],
)
def test_whatever_a_cell_can_reach_is_in_the_key(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    path.parent.mkdir(parents=True, exist_ok=True)
    seen = []
    for text in ("one", "two"):
        path.write_text(text)
        seen.append(code_hash(tmp_path))
    assert seen[0] != seen[1]


@pytest.mark.parametrize(
    "name",
    [
        "chapters/one/page.md",
        "book/static/book.css",
        "sim/__pycache__/a.pyc",
        "book/_ext/e.py",
        "chapters/.ipynb_checkpoints/x.json",
        "book/references.bib",
    ],
)
def test_prose_styles_and_leavings_do_not_run_the_notebooks_again(tmp_path: Path, name: str) -> None:
    before = code_hash(tmp_path)
    path = tmp_path / name
    path.parent.mkdir(parents=True)
    path.write_text("text")
    assert code_hash(tmp_path) == before


def test_a_changed_style_or_extension_makes_every_page_anew(tmp_path: Path) -> None:
    seen = []
    for text in ("one", "two"):
        for name in ("book/_ext/part.py", "book/static/book.css"):
            path = tmp_path / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
            seen.append(builder_hash(tmp_path))
    assert len(set(seen)) == len(seen)


def test_compiled_functions_are_where_the_compiler_cache_looks() -> None:
    """Numba's cache is keyed on the engine's sources, so nothing outside them may be compiled and kept."""
    marks = ("njit", "@kernel", "@jit", "@numba", "@vectorize")
    outside = {
        path.relative_to(ROOT).as_posix(): path.read_text()
        for path in reachable(ROOT)
        if path.suffix == ".py"
        and not path.is_relative_to(ROOT / "sim/engine")
        and any(mark in path.read_text() for mark in marks)
    }
    # what measures this machine is compiled each time, and kept nowhere
    assert all(name.startswith("sim/host/measure/") for name in outside)
    assert [name for name, text in outside.items() if "cache=" in text or "@kernel" in text] == []
