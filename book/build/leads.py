"""What a paragraph says first: the words in bold that it begins with, and its first sentence."""

from __future__ import annotations

import copy
import re
from typing import Final

from bs4.element import NavigableString, PageElement, Tag

_END: Final = re.compile(r"(?<![A-Z])[.!?](?=\s+[A-Z“\"(‘]|\s*$)|:(?=\s*$)")
_SHORTEST: Final = 40  # letters of a lead; a shorter sentence takes the next one along


def words(node: Tag) -> str:
    """The text of an element in one line."""
    return " ".join(node.get_text().split())


def inner(node: Tag) -> str:
    """What is inside an element, as HTML."""
    return node.decode_contents().strip()


def bold(paragraph: Tag) -> Tag | None:
    """The words in bold that a paragraph begins with, or a whole sentence in italics; None if there are none."""
    for child in paragraph.children:
        if isinstance(child, NavigableString) and not child.strip():
            continue
        if isinstance(child, Tag) and (child.name == "strong" or (child.name == "em" and words(child).endswith("."))):
            return child
        return None
    return None


def lead(paragraph: Tag) -> str:
    """The first sentence of a paragraph as HTML, with the words in bold before it."""
    piece = copy.copy(paragraph)
    first = bold(piece)
    begun = len(first.get_text()) if first is not None else 0
    seen = 0
    for text in list(piece.find_all(string=True)):
        whole = text.find_parent(["math", "code"]) is not None
        for end in () if whole else _END.finditer(text):
            if seen + end.end() - begun >= _SHORTEST:
                _cut_after(piece, text, end.end())
                return inner(piece)
        seen += len(text)
    return inner(piece)


def _cut_after(piece: Tag, text: NavigableString, at: int) -> None:
    """Remove everything in `piece` behind a place in a text."""
    node: PageElement = NavigableString(str(text)[:at])
    text.replace_with(node)
    while node is not piece and node.parent is not None:
        for later in list(node.next_siblings):
            later.extract()
        node = node.parent
