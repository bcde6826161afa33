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
