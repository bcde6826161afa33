"""What fills a slide by itself: a figure, a table, a listing, predictions, an exercise or another box."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from html import escape
from math import ceil
from typing import Final, NamedTuple, TypeVar

from bs4.element import Tag

from .leads import bold, inner, words

T = TypeVar("T")

MOST_ROWS: Final = 8  # of a table on a slide
MOST_LINES: Final = 16  # of a listing
MOST_SAID: Final = 260  # letters of a live figure's finding
WIDE: Final = 1.5  # width over height from which a figure stands below the words, not beside them
LIVE: Final = "In the book this figure is live."


class Visual(NamedTuple):
    """A slide's body, what it is, and its heading if it has one of its own."""

    body: str
    kind: str
    heading: str = ""


def is_prediction(node: object) -> bool:
    """Whether an element asks for a prediction."""
    return isinstance(node, Tag) and "rp-prediction" in node.get("class", [])


def visuals(child: Tag) -> Iterator[Visual]:
    """What an element of a page has to show, in order; nothing if it is only words."""
    kind = set(child.get("class", []))
    if is_prediction(child):
        if not is_prediction(child.find_previous_sibling()):
            yield _predictions(child)
    elif {"exercise", "admonition"} & kind:
        yield _box(child, "exercise" in kind)
    else:
        for picture in child.select("svg[role], img"):
            if picture.find_parent("svg") is None:
                yield Visual(_figure(child, picture), "figure")
        for table in child.select("table") if child.name != "table" else [child]:
            for part in _tables(table):
                yield Visual(part, "table")
        for listing in child.select("pre"):
            if listing.get_text(strip=True):
                yield Visual(_listing(listing.get_text()), "listing")


def _predictions(first: Tag) -> Visual:
    asked = [first]
    while is_prediction(following := asked[-1].find_next_sibling()):
        asked.append(following)  # type: ignore[arg-type]
    return Visual("".join(f'<p class="asked">{_question(one)}</p>' for one in asked), "predict", "Predict")


def _question(asked: Tag) -> str:
    label = asked.select_one("label")
    if label is None:
        return inner(asked)
    unit = words(asked).removeprefix(words(label)).strip()
    return inner(label) + (f" <em>({escape(unit)})</em>" if unit else "")


def _box(child: Tag, exercise: bool) -> Visual:
    title = child.select_one(".admonition-title")
    heading = words(title) if title else ""
    for mark in child.select(".admonition-title"):
        mark.extract()
    inside = (child.select_one("section") if exercise else None) or child
    first = inside.select_one("p")
    if exercise and first is not None and (strong := bold(first)) is not None:
        heading = f"{heading}: {words(strong).rstrip('.')}"
        strong.extract()
    return Visual(inner(inside), "box", heading or "To think about")


def _figure(holder: Tag, picture: Tag) -> str:
    caption = holder.select_one("figcaption p")
    said = inner(caption) if caption and words(caption) else ""
    if holder.select_one("[data-receive-path-widget]"):
        finding = str(picture.get("aria-label", ""))
        said = f"{escape(finding)} {LIVE}" if len(finding) <= MOST_SAID else LIVE
    shape = ' class="tall"' if _aspect(picture) < WIDE else ""
    return f"<figure{shape}>{picture}<figcaption>{said}</figcaption></figure>"


def _aspect(picture: Tag) -> float:
    """Width over height, as far as a picture says it."""
    box = str(picture.get("viewbox") or picture.get("viewBox") or "").split()
    if len(box) == 4:
        return float(box[2]) / float(box[3])
    sides = [re.match(r"[\d.]+", str(picture.get(side, ""))) for side in ("width", "height")]
    return float(sides[0][0]) / float(sides[1][0]) if sides[0] and sides[1] else WIDE


def _tables(table: Tag) -> Iterator[str]:
    """A table in parts of about the same length, each with the heading."""
    caption, head = table.select_one("caption"), table.select_one("thead")
    rows = table.select("tbody tr") or table.select("tr")
    for part in evenly(rows):
        yield f"<table>{caption or ''}{head or ''}<tbody>{''.join(map(str, part))}</tbody></table>"


def evenly(items: Sequence[T]) -> Iterator[Sequence[T]]:
    """Items in parts of about the same length, none longer than a slide has rows."""
    each = ceil(len(items) / max(1, ceil(len(items) / MOST_ROWS)))
    for first in range(0, len(items), each or 1):
        yield items[first : first + each]


def _listing(text: str) -> str:
    """A listing; of a long difference the lines that differ, as many as there is room for."""
    lines = text.rstrip("\n").splitlines()
    changed = [line for line in lines if re.match(r"[+-](?!\+\+|--)", line)]
    if len(lines) > MOST_LINES and changed:
        lines = changed
    left = len(lines) - MOST_LINES
    more = f"<p>{left} more line{'s are' if left > 1 else ' is'} in the book.</p>" if left > 0 else ""
    return f"<pre>{escape(chr(10).join(lines[:MOST_LINES]))}</pre>{more}"
