"""The pages are spelt as the book spells, and the check sees what it should and nothing else."""

from __future__ import annotations

from pathlib import Path

import pytest

from book.build import prose, spelling
from book.build.places import ROOT
from book.build.twins import pages

PAGE = ROOT / "book/index.md"


def found(text: str) -> list[str]:
    """Findings of a page with this text, without the page's name."""
    return [str(finding).partition(":")[2] for finding in spelling.check(PAGE, prose.prose(text))]


@pytest.mark.parametrize("page", spelling.pages(), ids=lambda path: path.relative_to(ROOT).as_posix())
def test_a_page_is_spelt_right(page: Path) -> None:
    wrong = spelling.check(page)
    assert wrong == [], "\n".join(str(finding) for finding in wrong)


def test_every_page_of_the_book_is_looked_at() -> None:
    assert set(pages()) <= set(spelling.pages())


def test_a_misspelt_word_is_named_with_page_and_line() -> None:
    assert found("# Title\n\nThe packet is recieved\nand freed.") == [
        "3: recieved: in no dictionary; if it is right, add it to book/words.txt"
    ]
    assert str(spelling.check(PAGE, prose.prose("Teh packet"))[0]).startswith("book/index.md:1: Teh: ")
    assert spelling.near("recieved")[0] == "received"


@pytest.mark.parametrize(
    ("american", "form"),
    [
        ("behavior", "behaviour"),
        ("Neighbors", "Neighbours"),
        ("optimized", "optimised"),
        ("serialization", "serialisation"),
        ("analyze", "analyse"),
        ("modeled", "modelled"),
        ("center", "centre"),
        ("acknowledgment", "acknowledgement"),
    ],
)
def test_an_american_form_is_refused_and_the_british_one_named(american: str, form: str) -> None:
    assert found(f"The {american} of it.") == [f"1: {american}: the book says {form}"]
    assert found(f"The {form} of it.") == []


@pytest.mark.parametrize("word", ["size", "resized", "prize", "seizing", "laboratory", "vigorous", "truesize"])
def test_words_that_only_look_american_pass(word: str) -> None:
    assert spelling.check(PAGE, [prose.Line(1, word)]) == []


@pytest.mark.parametrize(
    "text",
    [
        "A `recieve` and ``teh``.",
        "```c\nint recieve;\n```",
        "```{code-cell} ipython3\nrecieve = 1\n```",
        "See {cite}`recieve` and {doc}`/recieve` and {glue:text}`recieve`.",
        "[here](https://example.org/recieve) and https://example.org/recieve",
        "In 4.14 `x`, at 10ms, 64KB, patch_5 and include/net/sock.h.",
        "$recieve$ and\n\n$$ recieve $$",
        "```{figure} recieve.svg\n:name: recieve\n\nA packet.\n```",
        "GRO, NAPI, CPUs and an skb's page.",
    ],
    ids=["code", "fence", "cell", "roles", "addresses", "names", "formulas", "options", "capitals"],
)
def test_what_is_no_prose_is_not_spelt(text: str) -> None:
    assert found(text) == []


@pytest.mark.parametrize(
    "text",
    [
        "```{note} Recieved\nWords.\n```",
        "```{figure} a.svg\n:alt: a recieved packet\n\nWords.\n```",
        "See {doc}`recieved </book/index>` and {term}`recieved <skb>`.",
        "```{dropdown} Answer\n````{note}\nrecieved\n````\n```",
        "| a | recieved |\n|---|---|",
        "```{code-cell} ipython3\n---\nmystnb:\n  figure:\n    caption: |\n      A recieved packet.\n---\nx\n```",
    ],
    ids=["title", "alternative text", "shown words", "nested", "table", "caption"],
)
def test_whatever_a_reader_sees_is_spelt(text: str) -> None:
    assert len(found(text)) == text.lower().count("recieved"), found(text)


def test_the_project_s_words_are_sorted_one_a_line_and_not_in_the_dictionary() -> None:
    lines = spelling.WORDS.read_text(encoding="utf-8").splitlines()
    assert lines == sorted(set(lines), key=lambda word: (word.lower(), word))
    assert all(spelling.WORD.fullmatch(word) for word in lines)
    needless = [
        word for word in lines if spelling.english().lookup(word) and not spelling.british(word) and word.islower()
    ]
    assert needless == []
