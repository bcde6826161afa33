"""The book tells the threads' reasoning in its own words: no eight words in a row are theirs."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path

import pytest
from pybtex.database import parse_file

from book.build import prose
from book.build.places import ROOT
from book.build.twins import pages

RUN = 8
THREADS = ROOT.parent / "shared/threads"
PAGES = pages()
#: What is not a page and yet speaks: notes of figures, help of knobs, captions, comments.
SPEAKING = {".py", ".json", ".mjs", ".css", ".md", ".cff", ".bib"}
ROOMS = ("sim", "widgets", "book", "chapters")
#: A message's subject or a patch's title, alone on its line: pages quote those.
TITLE = re.compile(
    r"^[>\s]*(?:(?:Subject: |Re: |\[)*\[?(?:PATCH|RFC)\b.*|(?:(?:tcp|udp|ip|ipv6|net|packet|net/[a-z]+): )+\S.*)$"
)
#: A name of the kernel, an address, a path, a hash: facts, and no words.
NAME = re.compile(r"\S*(?:_|\(\)|::|->|@|/\S+/|\d[a-f0-9]{6,})\S*")
WORD = re.compile(r"[a-z0-9]+(?:['’][a-z]+)?")

needs_threads = pytest.mark.skipif(
    not THREADS.is_dir(), reason=f"NOT CHECKED: no mailing-list threads in {THREADS}, so copied sentences go unseen"
)


def words(lines: Iterable[prose.Line]) -> list[tuple[str, int]]:
    """Words with the numbers of their lines, names left out."""
    return [
        (word, line.number) for line in lines for word in WORD.findall(NAME.sub(" ", line.text).lower())
    ]


def runs(found: list[tuple[str, int]]) -> Iterator[tuple[str, int]]:
    """Each run of eight words, with the line on which it begins."""
    for at in range(len(found) - RUN + 1):
        yield " ".join(word for word, _ in found[at : at + RUN]), found[at][1]


def numbered(text: str) -> list[prose.Line]:
    return [prose.Line(number, line) for number, line in enumerate(text.splitlines(), 1)]


def of_threads(texts: Iterable[str]) -> set[str]:
    """Runs of the threads; titles do not count."""
    kept = (
        [line for line in numbered(text) if not TITLE.match(line.text)] for text in texts
    )
    return {run for lines in kept for run, _ in runs(words(lines))}


@cache
def theirs() -> set[str]:
    """Runs that no page may have."""
    titles: set[str] = set()
    for path in (ROOT / "book").glob("*.bib"):
        for entry in parse_file(str(path)).entries.values():
            title = re.sub(r"[{}\\]", "", entry.fields.get("title", ""))
            titles |= {run for run, _ in runs(words(numbered(title)))}
    return of_threads(path.read_text(encoding="utf-8") for path in sorted(THREADS.glob("*.txt"))) - titles


def copied(lines: Iterable[prose.Line], of: set[str]) -> list[str]:
    """Runs that are in both, as ``line: words``."""
    return [f"line {number}: {run}" for run, number in runs(words(lines)) if run in of]


@needs_threads
@pytest.mark.parametrize("page", PAGES, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_a_page_copies_no_eight_words_of_a_thread(page: Path) -> None:
    assert copied(prose.of(page), theirs()) == []


@needs_threads
@pytest.mark.parametrize("room", [*ROOMS, "."])
def test_nothing_else_that_speaks_copies_eight_words_of_a_thread(room: str) -> None:
    files = (ROOT / room).rglob("*") if room != "." else ROOT.glob("*")
    found = []
    for path in sorted(files):
        if path.suffix in SPEAKING and path not in PAGES and not {"vendor", "__pycache__"} & set(path.parts):
            lines = numbered(path.read_text(encoding="utf-8"))
            found += [f"{path.relative_to(ROOT)} {words}" for words in copied(lines, theirs())]
    assert found == []


@needs_threads
def test_every_thread_is_read() -> None:
    """Five files, and each is long enough to have been read: an empty folder would pass all the other tests."""
    assert sorted(path.stem for path in THREADS.glob("*.txt")) == [
        "packet-rollover", "tcp-5.17", "tcp-prequeue", "tcp-rx-skb-cache", "udpv6-early-demux",
    ]
    assert len(theirs()) > 5000


MAIL = """\
[PATCH net-next] net: move the work of freeing to the CPU that allocated the page
> We found that the receiver spends most of its time in
> freeing pages with skb_release_data() and wants to be rid of it.
"""


@pytest.mark.parametrize(
    ("page", "found"),
    [
        ("Here the receiver spends most of its\ntime in freeing pages, they say.", 1),
        ("*The receiver* spends **most of its** time in\nfreeing [pages](x.md), they say.", 1),
        ("- The receiver spends most of its\n- time in `kfree_skb` freeing pages", 1),
        ("Receivers spend most of their time in freeing pages.", 0),
        ("It moves the work of freeing to the CPU that allocated the page.", 0),
        ("```c\n/* the receiver spends most of its time in freeing pages */\n```", 0),
    ],
    ids=["over a line's end", "marked up", "around a symbol", "own words", "a title", "code"],
)
def test_a_copied_sentence_is_found_however_it_is_set(page: str, found: int) -> None:
    lines = copied(prose.prose(f"# Title\n\n{page}\n"), of_threads([MAIL]))
    assert bool(lines) == bool(found), lines
    assert all(line.startswith("line 3: ") for line in lines[:found])
