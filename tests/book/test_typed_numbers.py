"""No number of a run is typed into a page: the pages are looked at, and so is the look."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

import jupytext
import nbformat
import pytest

from book.build import twins
from book.build.places import ROOT
from sim import reported
from tests.book import typed

PAGES = twins.pages()
GLUE = re.compile(r"\{glue:text\}`([^`:]+)(?::[^`]*)?`")


@cache
def stated() -> frozenset[str]:
    """The threads' figures as a page writes them."""
    figures = [figure for thread in reported.threads() for figure in reported.figures(thread)]
    return frozenset(f"{figure.reported:,.15g} {figure.unit}" for figure in figures)


@cache
def computed(page: Path) -> tuple[frozenset[float], dict[str, str]]:
    """What a page's cells put out when the book was last built: its numbers, and the texts of its sentences."""
    done = twins.executed(jupytext.read(page, fmt="md:myst"))
    return (frozenset(typed.computed(done)), twins.glued(done)) if done else (frozenset(), {})


def faults(source: str, page: Path) -> list[str]:
    values, quoted = computed(page)
    return typed.faults(source, values, quoted.values(), stated())


@pytest.mark.parametrize("page", PAGES, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_a_page_has_no_number_typed_that_a_run_states(page: Path) -> None:
    assert faults(page.read_text(encoding="utf-8"), page) == []


def test_most_numbers_of_the_pages_would_be_found_if_they_were_typed() -> None:
    """Each glued number of the built pages in turn; what escapes has one digit, or equals a thread's figure."""
    tried = escaped = 0
    for page in PAGES:
        source = page.read_text(encoding="utf-8")
        quoted = computed(page)[1]
        for glued in GLUE.finditer(source):
            text = quoted.get(glued[1], "")
            if not typed.TYPED.match(f"{text}{source[glued.end() : glued.end() + 20]}".replace("\n", " ")):
                continue
            tried += 1
            escaped += not faults(source[: glued.start()] + text + source[glued.end() :], page)
    if not tried:
        pytest.skip("NOT CHECKED: no page is built (make book), so there are no numbers to type")
    assert escaped <= 0.35 * tried, f"{escaped} of {tried}"


VALUES = {66.6, 0.917, 81.0}
QUOTED = {"66.6", "47 %"}


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("It takes 66.6 Gbit/s now.", "quotes this number"),
        ("Softirq frees 47 % of them.", "quotes this number"),
        ("It delivers 0.917 Mpps.", "is 0.917, which the page computes"),
        ("It delivers 0.915 Mpps.", "has drifted from 0.917"),
        ("The simulation gives 12 Gbit/s.", "a run gave it"),
        ("The mail reports 55 Gbit/s, while the model gives\n12 Gbit/s.", "a run gave it"),
        ("| simulated, in the model 12 % |", "a run gave it"),
        ("```{note} N\nIn the model it is 12 %.\n```", "a run gave it"),
    ],
    ids=["glued text", "two digits", "cell", "drifted", "claimed", "clause", "cell of a table", "box"],
)
def test_a_typed_result_is_found(text: str, found: str) -> None:
    lines = typed.faults(f"# Title\n\nFirst.\n\n{text}\n", VALUES, QUOTED)
    assert len(lines) == 1
    assert found in lines[0]
    assert lines[0].startswith(("line 5: ", "line 6: "))


@pytest.mark.parametrize(
    "text",
    [
        "It takes {glue:text}`rate` Gbit/s now.",
        "It took 66.6 Gbit/s {cite}`dumazet2021load`.",
        "The message has 66.6 Gbit/s.",
        "5.83 M × 1,428 × 8 = 66.6 Gbit/s.",
        "```console\n66.6 Gbit/s\n```",
        "With 95 % intervals in the simulation.",
        "A link of 100 Gbit/s.",
        "````{exercise}\n:label: x\nIn the simulation it gains 3.1 %. How sure are you?\n````",
        "Of 1,500 bytes 66.6 stay.",
    ],
    ids=["glued", "cited", "reported", "pencil", "code", "interval", "setting", "exercise", "no unit of results"],
)
def test_what_is_sourced_or_worked_out_passes(text: str) -> None:
    assert typed.faults(text, VALUES, QUOTED) == []


def test_a_thread_s_figure_may_stand_anywhere_but_not_as_a_result() -> None:
    assert typed.faults("At 66.6 Gbit/s it is full.", VALUES, QUOTED, {"66.6 Gbit/s"}) == []
    assert typed.faults("The simulation says 66.6 Gbit/s.", VALUES, QUOTED, {"66.6 Gbit/s"}) != []


def test_numbers_are_taken_from_tables_texts_and_glue_but_not_from_the_headings_of_rows() -> None:
    table = "<table><tr><th>1,500</th><td class='num'>66.6</td><td>81.0 (80.5 to 81.5)</td></tr></table>"
    quoted = nbformat.v4.new_output("display_data", {"text/plain": "'47 %'"}, metadata={"scrapbook": {"name": "x"}})
    cell = nbformat.v4.new_code_cell(
        outputs=[nbformat.v4.new_output("display_data", {"text/html": table}), quoted,
                 nbformat.v4.new_output("stream", text="rate 0.917 Mpps\n")]
    )
    assert typed.computed(nbformat.v4.new_notebook(cells=[cell])) == {66.6, 81.0, 80.5, 81.5, 47.0, 0.917}
