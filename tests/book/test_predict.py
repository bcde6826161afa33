"""Predictions: asked once, shown where the page speaks of them, kept by the browser."""

from __future__ import annotations

import re
from io import StringIO
from pathlib import Path

import pytest
from bs4 import BeautifulSoup
from playwright.sync_api import Browser
from sphinx.application import Sphinx
from sphinx.util.docutils import docutils_namespace

from book.build.places import ROOT
from book.build.plain import Page

PAGES = sorted([*(ROOT / "book").glob("*.md"), *(ROOT / "chapters").rglob("*.md")])
QUESTION = "```{predict} one\n:unit: Mpps\n:max: 20\nHow many *packets*?\n```\n"


def built(folder: Path, **pages: str) -> tuple[str, str]:
    """HTML of the index page and all warnings of a small book with nothing but predictions."""
    for name, text in pages.items():
        (folder / f"{name}.md").write_text(f"# {name}\n\n{text}")
    others = "".join(f"{name}\n" for name in pages if name != "index")
    with (folder / "index.md").open("a") as index:
        index.write(f"\n```{{toctree}}\n{others}```\n")
    (folder / "conf.py").write_text(
        f"import sys; sys.path.insert(0, {str(ROOT / 'book/_ext')!r})\n"
        "from receive_path_book import predict\nextensions = ['myst_parser']\nsetup = predict.connect\n"
    )
    warnings = StringIO()
    with docutils_namespace():
        app = Sphinx(folder, folder, folder / "out", folder / "trees", "html", status=None, warning=warnings)
        app.build()
    return (folder / "out/index.html").read_text(), warnings.getvalue()


def test_a_guess_that_nobody_asked_for_is_a_warning(tmp_path: Path) -> None:
    _, warnings = built(tmp_path, index=f"{QUESTION}\nIt is 9 {{guess}}`won`.\n")
    assert "no prediction 'won' on this page (there are: one)" in warnings


def test_a_name_is_used_once_in_the_book(tmp_path: Path) -> None:
    _, warnings = built(tmp_path, index=QUESTION, other=QUESTION)
    assert "the prediction 'one' is already on index" in warnings


def test_a_bound_that_is_no_number_is_refused(tmp_path: Path) -> None:
    _, warnings = built(tmp_path, index=QUESTION.replace("20", "many"))
    assert "max is 'many', which is no number" in warnings


def test_a_page_that_asks_nothing_has_no_script(tmp_path: Path) -> None:
    page, warnings = built(tmp_path, index="Nothing here.\n")
    assert not warnings
    assert "receive-path/predict" not in page


def test_a_sentence_is_whole_without_a_guess(tmp_path: Path) -> None:
    said = "It is *9*\n{guess}`one`, or *7* {math}`8` {guess}`one`.\n"
    page, warnings = built(tmp_path, index=f"{QUESTION}\n{said}")
    assert not warnings
    assert re.search(r"It is 9, or 7 \S*8\S*\.\n", BeautifulSoup(page, "html.parser").get_text())


@pytest.mark.parametrize("page", [page for page in PAGES if "{guess}" in page.read_text()], ids=lambda page: page.stem)
def test_no_page_repeats_what_a_guess_says(page: Path) -> None:
    """The role brings its own words and its unit."""
    for before, after in re.findall(r"([^.:;]*)\{guess\}`[^`]+`(\s*\S*)", page.read_text()):
        assert not re.search(r"\b(you|your) (said|typed|guess|expected)\b", before, re.IGNORECASE), before
        assert not re.match(r"\s*(%|ns|million|Mpps|Gbit/s)", after), after


@pytest.mark.browser
def test_what_the_reader_typed_is_shown_and_kept(tmp_path: Path, browser: Browser) -> None:
    _, warnings = built(tmp_path, index=f"{QUESTION}\nIt is 9 {{guess}}`one`, or less.\n")
    assert not warnings
    page = browser.new_page()
    page.goto((tmp_path / "out/index.html").as_uri())
    said = page.locator("p:has([data-guess=one])")
    assert said.inner_text() == "It is 9, or less."
    page.get_by_label("How many packets?").fill("8.5")
    assert said.inner_text() == "It is 9 (you said 8.5\u00a0Mpps), or less."
    page.reload()
    assert said.inner_text() == "It is 9 (you said 8.5\u00a0Mpps), or less."
    assert page.get_by_label("How many packets?").input_value() == "8.5"
    page.close()


def test_a_notebook_twin_asks_in_words() -> None:
    plain = Page().text(f"{QUESTION}\nIt is 9 {{guess}}`one`.")
    question = "> **Predict, and write it down.** How many *packets*? (Mpps)"
    assert plain == f"{question}\n\n\nIt is 9 (compare your prediction)."
