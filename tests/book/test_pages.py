"""The built pages: complete, light enough, reachable by everyone, and in need of nobody."""

from __future__ import annotations

import gzip
import re
from collections import Counter
from collections.abc import Callable
from functools import cache
from html.parser import HTMLParser
from itertools import pairwise
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

import pytest
from axe_playwright_python.sync_playwright import Axe

from book.build.places import HTML
from book.build.twins import pages as listed_pages
from tests.conftest import Watched, built_pages

HEAVIEST = 1_500_000  # bytes of a page with five live figures and all it loads, gzipped
PAGES = built_pages()
ROOMS = ("book/", "chapters/")
READING = [page for page in PAGES if page.startswith(ROOMS)]
LIGHT: dict[str, Any] = {"viewport": {"width": 1280, "height": 900}, "color_scheme": "light"}
DARK: dict[str, Any] = {**LIGHT, "color_scheme": "dark"}
PHONE: dict[str, Any] = {"viewport": {"width": 375, "height": 800}, "color_scheme": "light", "has_touch": True}
#: Pages that it sees in every dress among the quick ones: a picture of numbers, a picture with links, plain words.
EVERY_DRESS = {"book/index.html", "book/after.html", "book/cite.html"}
#: Pages that it sees in light among the quick ones: its time grows faster than a page, so the others wait.
IN_LIGHT = EVERY_DRESS | {"book/machine.html", "book/validation.html", "chapters/tcp-5.17/acks.html"}
#: Pages that the slow tests see in every dress: each kind of widget, of a still picture, of a table and of a problem.
CHOSEN = {
    "book/gallery.html", "book/machine.html", "book/practice.html", "book/validation.html",
    "chapters/tcp-prequeue.html", "chapters/tcp-5.17/lines.html",
}


def early(pages: list[str]) -> list[Any]:
    """Pages that a browser opens among the quick tests: those that it sees in every dress; the others are slow."""
    return [each if each in EVERY_DRESS | CHOSEN else pytest.param(each, marks=pytest.mark.slow) for each in pages]


def dresses() -> list[Any]:
    """Each page in light, in the dark and on a phone; most of them among the slow tests.

    The slow tests see the rest of the book in light: colours and widths come from sheets that all pages share. The
    references of the simulation are the longest pages, written by a generator.
    """
    found = []
    assert not READING or {*IN_LIGHT, *CHOSEN} <= set(READING)  # none, as long as no book is built
    for page in READING:
        for name, options in (("light", LIGHT), ("dark", DARK), ("phone", PHONE)):
            late = page not in (IN_LIGHT if name == "light" else EVERY_DRESS)
            marks = [pytest.mark.slow] if late else []
            if late and page not in CHOSEN and (name != "light" or page.startswith("book/api")):
                marks.append(pytest.mark.exhaustive)
            found.append(pytest.param(page, options, id=f"{page}-{name}", marks=marks))
    return found


LOADS = {
    ("script", "src"),
    ("link", "href"),
    ("img", "src"),
    ("iframe", "src"),
    ("source", "src"),
    ("video", "src"),
    ("object", "data"),
    ("use", "href"),
    ("input", "src"),
}
LINK_KINDS = {
    "stylesheet",
    "icon",
    "preload",
    "modulepreload",
    "prefetch",
    "dns-prefetch",
    "preconnect",
    "manifest",
}
STYLE_ADDRESS = re.compile(r"(?:url\(|@import)\s*[\"']?(?:https?:)?//")

pytestmark = pytest.mark.browser


class Elements(HTMLParser):
    """What a page loads, where it links to, the names of its places, its pictures."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.loads: list[str] = []
        self.links: list[str] = []
        self.ids: list[str] = []
        self.pictures_without_text: list[str] = []
        self.headings: list[int] = []
        self.feed((HTML / page).read_text(encoding="utf-8"))
        self.places = set(self.ids)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        if "id" in given:
            self.ids.append(given["id"])
        if tag == "a" and "href" in given:
            self.links.append(given["href"])
        if tag == "img" and len(given.get("alt", "").split()) < 3:
            self.pictures_without_text.append(given.get("src", "")[:80])
        if given.get("role") in {"img", "group"} and tag == "svg" and len(given.get("aria-label", "").split()) < 3:
            self.pictures_without_text.append(given.get("class", "svg"))
        if tag == "svg" and not {"role", "aria-hidden", "aria-label"} & set(given):
            self.pictures_without_text.append(f"svg {given.get('class', '')}")
        if re.fullmatch("h[1-6]", tag):
            self.headings.append(int(tag[1]))
        for name in ("src", "href", "data"):
            if (
                (tag, name) in LOADS
                and name in given
                and (tag != "link" or LINK_KINDS & set(given.get("rel", "").split()))
            ):
                self.loads.append(given[name])


@cache
def elements_of(page: str) -> Elements:
    return Elements(page)


def address(page: str) -> str:
    return (HTML / page).as_uri()


def settled(watched: Watched) -> None:
    """Wait until fonts, formulas and the page's height have come to rest."""
    watched.page.evaluate("document.fonts.ready.then(() => window.MathJax?.startup?.promise)")
    height = -1
    for _ in range(20):
        now = watched.page.evaluate("document.documentElement.scrollHeight")
        if now == height:
            return
        height = now
        watched.page.wait_for_timeout(250)


def test_every_listed_page_is_built() -> None:
    assert READING, "no book: make book"
    missing = [page.stem for page in listed_pages() if not any(Path(built).stem == page.stem for built in READING)]
    assert missing == []


@pytest.mark.parametrize("page", PAGES)
def test_a_page_loads_nothing_from_another_host(page: str) -> None:
    foreign = [load for load in elements_of(page).loads if re.match(r"(https?:)?//", load)]
    assert foreign == []
    assert not STYLE_ADDRESS.search((HTML / page).read_text(encoding="utf-8"))


def test_no_style_sheet_loads_from_another_host() -> None:
    naming = [sheet.name for sheet in HTML.rglob("*.css") if STYLE_ADDRESS.search(sheet.read_text(encoding="utf-8"))]
    assert naming == []


@pytest.mark.parametrize("page", PAGES)
def test_links_and_places_are_sound(page: str) -> None:
    elements = elements_of(page)
    assert sorted(name for name, times in Counter(elements.ids).items() if times > 1) == []
    broken = []
    for link in elements.links:
        parts = urlsplit(link)
        if parts.scheme or parts.netloc:
            continue
        target = (HTML / page).parent.joinpath(unquote(parts.path)).resolve() if parts.path else HTML / page
        if not target.exists():
            broken.append(link)
        elif parts.fragment and target.suffix == ".html":
            names = elements_of(target.relative_to(HTML.resolve()).as_posix()).places
            if unquote(parts.fragment) not in names:
                broken.append(link)
    assert broken == []


@pytest.mark.parametrize("page", READING)
def test_every_picture_says_what_it_shows(page: str) -> None:
    assert elements_of(page).pictures_without_text == []


@pytest.mark.parametrize("page", READING)
def test_headings_begin_with_one_title_and_skip_no_level(page: str) -> None:
    """The frame's own headings (its lists of contents) come before and after the page's."""
    headings = elements_of(page).headings
    assert headings.count(1) >= 1
    own = headings[headings.index(1) :]
    assert [pair for pair in pairwise(own) if pair[1] > pair[0] + 1] == []


@pytest.mark.parametrize("page", early(PAGES))
def test_a_page_works_with_the_network_cut_and_is_light(page: str, watch: Callable[..., Watched]) -> None:
    watched = watch(address(page))
    settled(watched)
    assert watched.errors == []
    assert watched.foreign == []
    loaded = {Path(unquote(urlsplit(name).path)) for name in watched.addresses if name.startswith("file:")}
    weight = sum(len(gzip.compress(path.read_bytes())) for path in loaded)
    assert weight <= HEAVIEST, f"{weight:,} bytes"


@pytest.mark.parametrize(("page", "options"), dresses())
def test_axe_finds_nothing_serious(page: str, options: dict[str, Any], watch: Callable[..., Watched]) -> None:
    watched = watch(address(page), reduced_motion="reduce", **options)
    settled(watched)
    found = Axe().run(watched.page).response["violations"]
    grave = [
        f"{rule['id']}: {node['html'][:200]}"
        for rule in found
        if rule["impact"] in {"serious", "critical"}
        for node in rule["nodes"]
    ]
    assert grave == []


@pytest.mark.parametrize("page", early(READING))
def test_a_page_fits_a_phone(page: str, watch: Callable[..., Watched]) -> None:
    watched = watch(address(page), viewport={"width": 375, "height": 800})
    settled(watched)
    assert watched.page.evaluate("document.documentElement.scrollWidth") <= 375


@pytest.mark.parametrize("page", READING[:1])
def test_the_first_tab_stop_skips_to_the_content(page: str, watch: Callable[..., Watched]) -> None:
    watched = watch(address(page))
    watched.page.keyboard.press("Tab")
    watched.page.keyboard.press("Enter")
    assert watched.page.evaluate("location.hash") == "#main-content"


@pytest.mark.parametrize("page", READING)
def test_a_page_reads_with_scripts_blocked(page: str, watch: Callable[..., Watched]) -> None:
    watched = watch(address(page), java_script_enabled=False)
    assert len(watched.page.locator("#main-content").inner_text().split()) > 50


def test_icons_are_drawn_without_a_script(watch: Callable[..., Watched]) -> None:
    """The menu's icon has a size and a shape."""
    watched = watch(address(READING[0]), java_script_enabled=False)
    icon = watched.page.locator(".primary-toggle .fa-bars").first
    shape = icon.evaluate("element => getComputedStyle(element, '::before').maskImage")
    assert shape.startswith('url("data:image/svg+xml')
    assert (icon.bounding_box() or {"width": 0})["width"] > 8


def test_the_front_address_leads_to_the_cover(watch: Callable[..., Watched]) -> None:
    watched = watch((HTML / "index.html").as_uri())
    watched.page.wait_for_url("**/book/index.html")


def test_paper_gets_the_text_alone_with_folds_open(watch: Callable[..., Watched]) -> None:
    watched = watch(address(READING[-1]))
    watched.page.emulate_media(media="print")
    assert not watched.page.locator(".bd-sidebar-primary").is_visible()
