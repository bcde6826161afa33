"""A built page as slides: headings, the leads of its paragraphs, its figures and tables, its questions.

Nothing is written anew: a point is a paragraph's lead (`book.build.leads`). The whole paragraphs stand in the notes,
with the place in the book.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from html import escape
from math import ceil
from typing import Final

from bs4 import BeautifulSoup
from bs4.element import Tag
from latex2mathml.converter import convert

from .leads import bold, inner, lead, words
from .visuals import Visual, evenly, is_prediction, visuals

#: Sections that are for readers alone.
LEFT_OUT: Final = re.compile(r"Symbols of|Sources|Further reading|References", re.IGNORECASE)
MOST_POINTS: Final = 5  # on a slide
MOST_LETTERS: Final = 560  # of a slide's points
MOST_PLAIN: Final = 4  # leads of plain paragraphs in a section; those that begin in bold are all taken
BESIDE: Final = (3, 300)  # points and letters that find room before a figure, a table or a question
BEHIND: Final = (2, 200)  # and after it
_CITED: Final = re.compile(r'<a [^>]*bibliography\.html[^>]*>([^<]+)</a>')
#: What live figures start from: most of a page's bytes.
_STATE: Final = re.compile(r'<script type="application/json">.*?</script>', re.S)
#: What only a page has: folds, code that makes figures, reasons why a figure is still.
_PAGE_ONLY: Final = "a.headerlink, script, .cell_input, details, .solution, .tag_hide-output, .rp-reason, noscript"


@dataclass
class Slide:
    """A slide: a heading and the section that it belongs to, its body and its notes as HTML, what it is."""

    heading: str
    body: str
    kicker: str = ""
    notes: str = ""
    kind: str = "points"


@dataclass
class Deck:
    """A page's slides, its title first; `page` is its name in the book."""

    title: str
    page: str
    slides: list[Slide] = field(default_factory=list)

    def place(self, *headings: str) -> str:
        """Where in the book something stands, as HTML."""
        parts = [self.title, *(part for part in headings if part and part != self.title)]
        return f'<p class="place">In the book: {" › ".join(map(escape, parts))} ({escape(self.page)})</p>'


@dataclass
class _Gathering:
    """Points of a section that wait for a slide."""

    heading: str
    kicker: str
    points: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    plain: int = 0

    @property
    def letters(self) -> int:
        return sum(map(_letters, self.points))

    def taken(self) -> tuple[str, str]:
        """All points and notes, as HTML; then none are left."""
        out = _listed(self.points), "".join(self.notes)
        self.points, self.notes = [], []
        return out


def read(html: str, page: str) -> Deck:
    """The slides of a built page. ValueError if it holds no text."""
    begun = html.find('<article class="bd-article"')
    article = BeautifulSoup(_STATE.sub("", html[max(begun, 0) :]), "html.parser").select_one("article.bd-article")
    title = article.select_one("h1") if article else None
    if article is None or title is None or not isinstance(title.parent, Tag):
        raise ValueError(f"{page} is no page of the book: it has no title")
    _tidy(article)
    deck = Deck(words(title), page)
    deck.slides += [_title(title.parent, deck), *_section(title.parent, deck, "")]
    deck.slides += _sources(article, deck)
    return deck


def _tidy(article: Tag) -> None:
    for mark in [*article.select(_PAGE_ONLY), *(s for s in article.select("style") if s.find_parent("svg") is None)]:
        mark.decompose()
    for formula in article.select(".math"):
        inside = re.sub(r"^\s*\\[(\[]|\\[)\]]\s*$", "", formula.get_text())
        if formula.select_one("math") is None:
            markup = convert(inside, display="block" if formula.name == "div" else "inline")
            formula.clear()
            formula.append(BeautifulSoup(markup, "html.parser"))
    for link in article.select("a"):
        drawn = link.find_parent("svg") is not None
        if not (re.match("https?:", str(link.get("href", ""))) if drawn else _cited(link)):
            link.unwrap()


def _cited(link: Tag) -> bool:
    return "bibliography.html" in str(link.get("href", "")) and bool(link.get("title"))


def _title(section: Tag, deck: Deck) -> Slide:
    first = section.select_one(":scope > .admonition")
    said = "".join(f"<p>{inner(p)}</p>" for p in first.select("p:not(.admonition-title)")) if first else ""
    body = re.sub(r"\s*<strong>", "</p><p><strong>", said).replace("<p></p>", "")
    return Slide(deck.title, body, "The Receive Path", deck.place(), "title")


def _section(section: Tag, deck: Deck, kicker: str) -> Iterator[Slide]:
    top = section.find(re.compile("^h[1-6]$"), recursive=False)
    if not isinstance(top, Tag) or (kicker and LEFT_OUT.match(words(top))):
        return
    waiting = _Gathering(words(top), kicker)
    leads = _has_leads(section)
    last: Slide | None = None  # a slide with a figure or the like, which may take what is said behind it
    for child in section.find_all(True, recursive=False):
        if child is top or (not kicker and "admonition" in child.get("class", [])):
            continue
        if child.name == "section":
            if last is not None:
                yield _joined(last, waiting)
                last = None
            yield from _flushed(waiting, deck)
            yield from _section(child, deck, waiting.heading)
        elif shown := list(visuals(child)):
            if last is not None:
                yield last
            *others, last = _with_visuals(shown, waiting, deck)
            yield from others
        elif not is_prediction(child):
            _gather(child, waiting, leads)
    if last is not None:
        yield _joined(last, waiting)
    yield from _flushed(waiting, deck)


def _joined(shown: Slide, waiting: _Gathering) -> Slide:
    """A slide that shows something, with the points behind it if they are few."""
    if waiting.points and shown.kind != "box" and _fits(waiting, BEHIND):
        points, notes = waiting.taken()
        shown.body += points
        shown.notes += notes
    return shown


def _fits(waiting: _Gathering, room: tuple[int, int]) -> bool:
    return len(waiting.points) <= room[0] and waiting.letters <= room[1]


def _with_visuals(shown: list[Visual], waiting: _Gathering, deck: Deck) -> Iterator[Slide]:
    """A slide for each; the first takes the points that wait, if there is room for them."""
    points = notes = ""
    if _fits(waiting, BESIDE) and shown[0].kind != "box":
        points, notes = waiting.taken()
    yield from _flushed(waiting, deck)
    for number, (body, kind, heading) in enumerate(shown):
        of = f" ({number + 1} of {len(shown)})" if len(shown) > 1 else ""
        where = deck.place(waiting.kicker, waiting.heading)
        first = (points, where + notes) if number == 0 else ("", where)
        yield Slide((heading or waiting.heading) + of, first[0] + body, waiting.kicker, first[1], kind)


# -- points -------------------------------------------------------------------------------------------------


def _has_leads(section: Tag) -> bool:
    """Whether paragraphs or lists of the section say by themselves what matters."""
    own = section.find_all(["p", "ol", "ul"], recursive=False)
    return sum(part.name in ("ol", "ul") or bold(part) is not None for part in own) > 1


def _gather(child: Tag, waiting: _Gathering, leads: bool) -> None:
    if child.name in ("ol", "ul"):
        for item in child.find_all("li", recursive=False):
            waiting.points.append(f"<li>{lead(item.select_one('p') or item)}</li>")
        waiting.notes.append(f"<{child.name}>{inner(child)}</{child.name}>")
    elif child.name == "div" and "math" in child.get("class", []):
        waiting.points.append(f'<div class="formula">{inner(child)}</div>')
    elif child.name == "p" and child.select_one("[data-guess]") is None and words(child):
        waiting.notes.append(f"<p>{inner(child)}</p>")
        if bold(child) is None:
            after = child.find_next_sibling()
            introduces = words(child).endswith(":")
            if introduces and not _is_list(after):
                return  # of what follows, which slides leave out
            if not introduces and (leads or waiting.plain == MOST_PLAIN):
                return
            waiting.plain += not introduces
        waiting.points.append(f"<li>{lead(child)}</li>")


def _is_list(node: object) -> bool:
    return isinstance(node, Tag) and (node.name in ("ol", "ul") or "math" in node.get("class", []))


def _letters(point: str) -> int:
    return len(BeautifulSoup(point, "html.parser").get_text())


def _listed(points: list[str]) -> str:
    return re.sub(r"((?:<li>.*?</li>)+)", r"<ul>\1</ul>", "".join(points), flags=re.S)


def _flushed(waiting: _Gathering, deck: Deck) -> Iterator[Slide]:
    """Slides of the points so far."""
    pages: list[list[str]] = []
    room = 0
    for point in waiting.points:
        room -= _letters(point)
        if not pages or len(pages[-1]) == MOST_POINTS or room < 0:
            pages.append([])
            room = MOST_LETTERS - _letters(point)
        pages[-1].append(point)
    each = ceil(len(waiting.points) / max(1, len(pages)))
    pages = [waiting.points[first : first + each] for first in range(0, len(waiting.points), each or 1)]
    _, notes = waiting.taken()
    for number, points in enumerate(pages):
        of = f" ({number + 1} of {len(pages)})" if len(pages) > 1 else ""
        whole = deck.place(waiting.kicker, waiting.heading) + (notes if number == 0 else "")
        yield Slide(waiting.heading + of, _listed(points), waiting.kicker, whole)


# -- sources ------------------------------------------------------------------------------------------------


def _sources(article: Tag, deck: Deck) -> Iterator[Slide]:
    """What the slides cite, by the tags that stand on them; there the tags need no links any more."""
    used = {tag for slide in deck.slides for tag in _CITED.findall(slide.body)}
    named = {words(link): str(link["title"]) for link in article.select("a") if _cited(link) and words(link) in used}
    for slide in deck.slides:
        slide.body, slide.notes = (_CITED.sub(r"\1", part) for part in (slide.body, slide.notes))
    items = [f"<li>[{escape(tag)}] {escape(source)}</li>" for tag, source in sorted(named.items())]
    parts = list(evenly(items))
    for number, part in enumerate(parts):
        of = f" ({number + 1} of {len(parts)})" if len(parts) > 1 else ""
        yield Slide("Sources" + of, f"<ul>{''.join(part)}</ul>", notes=deck.place(), kind="sources")
