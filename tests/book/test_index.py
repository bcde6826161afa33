"""The cover leads to every page, so that nobody has to find one in the menu."""

from __future__ import annotations

import re

from book.build.places import ROOT
from book.build.twins import pages

COVER = ROOT / "book/index.md"


def test_the_cover_links_to_every_page_of_the_book() -> None:
    targets = re.findall(r"\]\(([^()#\s]+\.md)\)", COVER.read_text(encoding="utf-8"))
    linked = {(COVER.parent / target).resolve() for target in targets}
    missing = [page.relative_to(ROOT).as_posix() for page in pages() if page not in linked | {COVER}]
    assert missing == [], "add them to the tables of book/index.md"


def test_no_page_is_listed_twice() -> None:
    listed = pages()
    assert len(set(listed)) == len(listed)
    assert all(page.exists() for page in listed)


def test_chapters_have_the_exercises_and_check_questions_that_the_cover_promises() -> None:
    chapters = {page.stem: page.read_text(encoding="utf-8") for page in (ROOT / "chapters").rglob("*.md")}
    for name, text in chapters.items():
        asked, solved = (re.findall(rf"^`+\{{{what}\}}", text, re.MULTILINE) for what in ("exercise", "solution"))
        assert len(asked) == len(solved) >= 5, name
    asking = {name for name, text in chapters.items() if "Check yourself" in text}
    assert asking == {"tcp-prequeue", "packet-rollover", "udpv6-early-demux", "tcp-rx-skb-cache", "defer-free"}
