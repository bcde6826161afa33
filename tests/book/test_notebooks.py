"""Notebooks to hand out: what they need arrives with their first cell, and what they show needs no page."""

from __future__ import annotations

import ast
import importlib.util
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any

import nbformat
import pytest
from nbformat import NotebookNode

from book.build import notebooks, twins
from book.build.places import ROOT

ADDRESS = "https://example.org/receive-path"


@pytest.fixture
def ordered(monkeypatch: pytest.MonkeyPatch) -> list[list[str]]:
    """Commands that the first cell gives."""
    given: list[list[str]] = []
    monkeypatch.setattr(subprocess, "run", lambda command, **_: given.append([str(part) for part in command]))
    monkeypatch.setattr(sys, "path", list(sys.path))
    return given


def run_first_cell(monkeypatch: pytest.MonkeyPatch, absent: set[str], address: str = ADDRESS) -> None:
    """Run the set-up cell in an environment that lacks some packages."""
    find = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None if name in absent else find(name))
    exec(compile(notebooks.first_cell(address).source, "set-up", "exec"), {})


def test_where_everything_is_there_the_first_cell_does_nothing(
    monkeypatch: pytest.MonkeyPatch, ordered: list[list[str]]
) -> None:
    run_first_cell(monkeypatch, set())
    assert ordered == []


def test_elsewhere_it_clones_the_project_and_installs_only_what_is_missing(
    monkeypatch: pytest.MonkeyPatch, ordered: list[list[str]], tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    run_first_cell(monkeypatch, {"sim", "widgets", "anywidget", "simpy"})
    clone, install = ordered
    assert clone[:2] == ["git", "clone"]
    assert clone[-2:] == [ADDRESS, str(tmp_path / "receive-path")]
    assert sys.path[0] == str(tmp_path / "receive-path")
    assert [part.split("==")[0] for part in install[install.index("install") + 2 :]] == ["simpy", "anywidget"]


def test_a_notebook_within_an_unpacked_clone_finds_it(
    monkeypatch: pytest.MonkeyPatch, ordered: list[list[str]], tmp_path: Path
) -> None:
    (tmp_path / "sim/scenarios").mkdir(parents=True)
    (tmp_path / "lab/book").mkdir(parents=True)
    monkeypatch.chdir(tmp_path / "lab/book")
    run_first_cell(monkeypatch, {"sim"})
    assert ordered == []
    assert sys.path[0] == str(tmp_path)


def test_without_an_address_it_says_what_to_do(
    monkeypatch: pytest.MonkeyPatch, ordered: list[list[str]], tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(RuntimeError, match="into ADDRESS, then run this cell again"):
        run_first_cell(monkeypatch, {"sim"}, address="")


def imported(room: str) -> set[str]:
    """Top-level names that a room's modules import when they are imported themselves."""
    names: set[str] = set()
    for path in (ROOT / room).rglob("*.py"):
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.Import):
                names |= {alias.name.split(".")[0] for alias in node.names}
            elif isinstance(node, ast.ImportFrom) and node.level == 0 and node.module:
                names.add(node.module.split(".")[0])
    return names


def test_all_that_cells_import_is_on_the_list() -> None:
    """Engines for tests and clusters are not: a notebook that wants them says so itself."""
    own = {"sim", "widgets", "book", "tests"}
    # with numba, for tests, for clusters, with ipywidgets
    elsewhere = {"llvmlite", "wasmtime", "distributed", "traitlets"}
    wanted = {name for room in ("sim", "widgets", "book/figures") for name in imported(room)}
    foreign = wanted - set(sys.stdlib_module_names) - own - elsewhere
    assert sorted(foreign - set(notebooks.MODULES)) == []


def test_packages_are_pinned_as_the_book_pins_them() -> None:
    pinned = notebooks.pins()
    text = (ROOT / "requirements.txt").read_text(encoding="utf-8")
    assert all(f"\n{package} " in text for package in pinned.values()), pinned


def output(**data: Any) -> NotebookNode:
    return nbformat.v4.new_output("display_data", data)


def test_a_widget_leaves_its_picture_and_a_table_stays_a_table() -> None:
    widget = output(**{
        "application/vnd.jupyter.widget-view+json": {"model_id": "x"}, "text/html": "<div>", "image/png": "AAAA",
        "text/plain": "it gains",
    })
    table = output(**{"text/html": "<table>", "text/plain": "a | b"})
    quoted = output(**{"text/plain": "'55'"})
    quoted.metadata["scrapbook"] = {"name": "rate"}
    cell = nbformat.v4.new_code_cell("x", outputs=[widget, table, quoted])
    assert [dict(kept.data) for kept in twins.shown(cell)] == [
        {"image/png": "AAAA", "text/plain": "it gains"},
        {"text/html": "<table>", "text/plain": "a | b"},
    ]
    cell.metadata["tags"] = ["remove-cell"]
    assert twins.shown(cell) == []


def test_cells_that_the_page_hides_are_folded_and_pages_without_cells_need_no_set_up() -> None:
    cited = twins.citations()
    made = notebooks.notebook(ROOT / "book/index.md", cited, ADDRESS)
    assert made.cells[0].source.startswith(notebooks.TITLE)
    hidden = [cell for cell in made.cells[1:] if notebooks.HIDDEN & set(cell.metadata.get("tags", []))]
    assert hidden
    assert all(cell.metadata["jupyter"]["source_hidden"] and cell.metadata["cellView"] == "form" for cell in hidden)
    words = notebooks.notebook(ROOT / "book/how-to-read.md", cited, ADDRESS)
    assert all(cell.cell_type == "markdown" for cell in words.cells)


def test_the_archive_holds_every_notebook_and_the_pictures_that_they_show(tmp_path: Path) -> None:
    written = notebooks.write(tmp_path / "notebooks", tmp_path / "notebooks.zip")
    with zipfile.ZipFile(tmp_path / "notebooks.zip") as packed:
        names = packed.namelist()
        for path in written:
            nbformat.validate(nbformat.reads(packed.read(str(member(path, tmp_path))).decode(), as_version=4))
    assert str(member(tmp_path / "notebooks/chapters/tcp-5.17/who-frees.svg", tmp_path)) in names


def member(path: Path, folder: Path) -> Path:
    return Path("receive-path-notebooks") / path.relative_to(folder / "notebooks")


def test_an_address_with_a_secret_or_of_this_machine_is_not_handed_out(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for address, shown in (
        ("https://example.org/a/receive-path.git", "https://example.org/a/receive-path.git"),
        ("https://name:secret@example.org/receive-path", ""),
        ("/srv/git/receive-path", ""),
        ("git@example.org:receive-path", ""),
    ):
        monkeypatch.setattr(
            subprocess, "run", lambda *_, address=address, **__: subprocess.CompletedProcess([], 0, f"{address}\n")
        )
        assert notebooks.origin() == shown


def test_binder_s_commands_are_the_project_s() -> None:
    script = ROOT / ".binder/postBuild"
    assert script.stat().st_mode & 0o111
    called = [line.split()[2] for line in script.read_text().splitlines() if line.startswith("python -m ")]
    assert called == ["sim", "book.build.twins"]
    assert all(importlib.util.find_spec(name) for name in called)
    named = (ROOT / ".binder/requirements.txt").read_text().split()[1]
    assert (ROOT / ".binder" / named).resolve() == ROOT / "requirements.txt"
