"""Notebook twins read well where directives are shown as they stand, and run top to bottom."""

from __future__ import annotations

import re
from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient
from nbformat import NotebookNode

from book.build.places import ROOT
from book.build.plain import Page
from book.build.twins import citations, pages, twin, write
from tests.chosen import chosen

CITED = citations()
RAW = re.compile(r"^\s*(?:`{3,}|:{3,})\{|\{[\w:]+\}`|^\([\w-]+\)=$", re.MULTILINE)


def prose(notebook: NotebookNode) -> str:
    return "\n\n".join(cell.source for cell in notebook.cells if cell.cell_type == "markdown")


@pytest.mark.parametrize("page", pages(), ids=lambda path: path.stem)
def test_a_twin_shows_no_directive_and_no_role(page: Path) -> None:
    assert RAW.findall(prose(twin(page, CITED))) == []


@pytest.mark.parametrize("page", pages(), ids=lambda path: path.stem)
def test_a_twin_has_the_page_s_cells_and_keeps_its_words(page: Path) -> None:
    notebook = twin(page, CITED)
    nbformat.validate(notebook)
    assert sum(cell.cell_type == "code" for cell in notebook.cells) == page.read_text().count("```{code-cell}")


def test_links_between_twins_lead_to_files(tmp_path: Path) -> None:
    for path in write(ROOT, tmp_path):
        for target in re.findall(r"\]\(([^():#\s]+)(?:#[^()\s]*)?\)", prose(nbformat.read(path, as_version=4))):
            assert (path.parent / target).exists(), f"{path.name}: {target}"


#: A twin has its page's cells, and the build has run those. What can differ is the folder it runs in: so these read
#: files, keep figures for other pages, show each kind of widget, or have no run at all.
RUN = [ROOT / f"{name}.md" for name in (
    "book/index", "book/memory", "book/gallery", "book/own-data", "book/practice", "book/validation", "book/status",
    "chapters/tcp-5.17/lines",
)]


@pytest.mark.slow
@pytest.mark.parametrize("page", chosen(pages(), RUN), ids=lambda path: path.stem)
def test_a_twin_runs_top_to_bottom_in_a_clean_kernel(page: Path, tmp_path: Path) -> None:
    NotebookClient(twin(page, CITED), timeout=300, resources={"metadata": {"path": str(tmp_path)}}).execute()


def test_boxes_become_quotations_and_folds_become_details() -> None:
    text = Page().text("```{note}\nOne.\n\nTwo.\n```\n\n```{dropdown} Answer\nThree.\n```")
    assert "> **Note**\n>\n> One.\n>\n> Two." in text
    assert "<details><summary>Answer</summary>\n\nThree.\n\n</details>" in text


def test_an_exercise_is_numbered_and_its_solution_names_it() -> None:
    text = Page().text(
        "```{exercise} Size\n:label: size\nHow big?\n```\n\n"
        "````{solution} size\n:class: dropdown\n```{code-block} c\nint x;\n```\n````"
    )
    assert "**Exercise 1. Size**\n\nHow big?" in text
    assert "<summary>Solution to Exercise 1</summary>" in text
    assert "```c\nint x;\n```" in text


def test_roles_become_words_links_and_numbers() -> None:
    page = Page(cited={"a2021": "[A 2021](https://example.org)"}, glued={"rate": "55 Gbit/s"}, depth=2)
    assert page.text("{term}`skbs <skb>`, {term}`GRO`") == "skbs, GRO"
    assert page.text("{cite}`a2021`") == "[[A 2021](https://example.org)]"
    assert page.text("{glue:text}`rate` and {glue:text}`other`") == "55 Gbit/s and `other`"
    assert page.text("{doc}`the machine </book/machine>`") == "[the machine](../../book/machine.ipynb)"


def test_code_blocks_are_left_alone() -> None:
    source = "```c\n/* {term}`x` */\n```"
    assert Page().text("```{math}\nx^2\n```") == "$$\nx^2\n$$"
    assert "int" in Page().text("```c\nint y;\n```")
    assert Page().text(source).startswith("```c")
